// The layout editor: pieces are moved here; where they rest and whether they stand the server says.
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const TOP = 252;                       // mm of height that the stage shows
const stage = $("stage"), layer = $("pieces"), said = $("said");
let set = null, build = [], chosen = -1, held = null, weakest = [], changes = 0;

async function ask(path, body) {
  const answer = await fetch(path, body === undefined ? {} : {
    method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" } });
  const data = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(data.error || answer.statusText), { replaces: data.replaces });
  return data;
}

const pose = (p) => set.shapes[p.shape].find((q) => q.rotation === p.rotation && q.facing === p.facing)
  || set.shapes[p.shape][0];
const path = (outline) => "M" + outline.map(([x, z]) => `${x} ${-z}`).join("L") + "Z";

function drawn(p) {
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path(pose(p).outline));
  shape.setAttribute("fill", set.colors[p.color]);
  shape.setAttribute("stroke", "#14181f");
  return shape;
}

function show() {
  layer.replaceChildren(...build.flatMap((p, n) => {
    const shape = drawn(p);
    shape.setAttribute("transform", `translate(${p.x} ${TOP - p.z})`);
    shape.setAttribute("class", "piece" + (n === chosen ? " chosen" : "") + (weakest.includes(n) ? " weak" : "")
      + (held && n === held.n ? " held" : ""));
    shape.dataset.n = n;
    shape.setAttribute("aria-label", called(p));
    return [shape, label(p)];
  }));
  showPalette();
}

const called = (p) => `${set.names[p.color]} ${set.names[p.shape]}`;

// Who cannot tell the colours reads them.
function label(p) {
  const text = document.createElementNS(SVG, "text");
  text.setAttribute("x", p.x);
  text.setAttribute("y", TOP - p.z + 2);
  text.setAttribute("class", "colour-name");
  text.setAttribute("aria-hidden", "true");
  text.textContent = set.names[p.color];
  return text;
}

function left(row) {
  return row.count - build.filter((p) => p.shape === row.shape && p.color === row.color).length;
}

function showPalette() {
  for (const button of $("palette").children) {
    const row = set.pieces[button.dataset.row];
    button.disabled = left(row) === 0;
    button.querySelector("b").textContent = left(row);
    button.setAttribute("aria-label", `${left(row)} ${called(row)}`);
  }
}

function makePalette() {
  $("palette").replaceChildren(...set.pieces.map((row, n) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.row = n;
    button.setAttribute("aria-label", called(row));
    button.title = called(row);
    const picture = document.createElementNS(SVG, "svg"), p = { ...row, rotation: 0, facing: "front" };
    const xs = pose(p).outline.map((q) => q[0]), zs = pose(p).outline.map((q) => q[1]);
    const w = Math.max(...xs) - Math.min(...xs), h = Math.max(...zs) - Math.min(...zs);
    picture.setAttribute("viewBox", `${-w / 2 - 1} ${-h / 2 - 1} ${w + 2} ${h + 2}`);
    picture.setAttribute("width", w + 2);
    picture.setAttribute("height", h + 2);
    picture.append(drawn(p));
    button.append(picture, document.createElement("b"));
    button.addEventListener("pointerdown", (event) => { if (!button.disabled) take(add(row), event); });
    button.addEventListener("click", (event) => { if (event.detail === 0) { add(row); look(true); } });
    return button;
  }));
}

function add(row) {
  const zs = set.shapes[row.shape][0];
  build.push({ shape: row.shape, color: row.color, rotation: zs.rotation, facing: zs.facing, x: 0, z: 230 });
  chosen = build.length - 1;
  show();
  return chosen;
}

function at(event) {                   // the pointer in mm of the elevation
  const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(stage.getScreenCTM().inverse());
  return { x: p.x, z: TOP - p.y };
}

function take(n, event) {
  const from = at(event), p = build[n], fresh = event.currentTarget !== stage;
  held = { n, dx: fresh ? 0 : p.x - from.x, dz: fresh ? 0 : p.z - from.z, id: event.pointerId };
  chosen = n;
  event.preventDefault();
  move(event);
}

function move(event) {
  if (!held || event.pointerId !== held.id) return;
  const to = at(event), p = build[held.n];
  p.x = Math.max(-95, Math.min(95, Math.round(to.x + held.dx)));
  p.z = Math.max(5, Math.min(400, to.z + held.dz));
  show();
  look(false);
}

function letGo(event) {
  if (!held || event.pointerId !== held.id) return;
  held = null;
  look(true);
}

let timer = null, waiting = null;
function look(thorough) {              // at most one question under way, the latest one wins
  waiting = { thorough };
  changes++;                           // an answer to an older build moves nothing
  if (!timer) timer = setTimeout(asked, thorough ? 0 : 80);
}

async function asked() {
  const { thorough } = waiting, before = changes;
  waiting = null;
  if (!build.length) { timer = null; return verdict(null); }
  try {
    const answer = await ask("/cards/look", { pieces: build, thorough });
    if (before === changes) {
      answer.pieces.forEach((q, n) => { if (!(held && n === held.n)) Object.assign(build[n], q); });
      weakest = answer.weakest;
      show();
    }
    if (before === changes || held) verdict(answer);
  } catch (error) { said.textContent = error.message; }
  timer = waiting ? setTimeout(asked, 60) : null;
}

function told(number) {
  return String(number ?? "–").replace(".", document.documentElement.lang === "de" ? "," : ".");
}

function verdict(answer) {
  const box = $("verdict"), good = answer && !answer.faults.length;
  box.textContent = !answer ? box.dataset.empty : good ? "✓ " + box.dataset.stands : "✗";
  box.className = "cards-verdict " + (!answer ? "" : good ? "right" : "wrong");
  $("faults").replaceChildren(...(answer ? answer.faults : []).map((text) => {
    const row = document.createElement("li");
    row.textContent = text;
    return row;
  }));
  $("tilt").textContent = told(answer?.tilt_deg);
  $("difficulty").textContent = told(answer?.difficulty);
  $("suggested").textContent = answer?.value ?? "–";
  if (answer?.value) $("save").elements.value.value = answer.value;
}

function turn() {
  if (chosen < 0) return;
  const p = build[chosen], poses = set.shapes[p.shape], next = poses[(poses.indexOf(pose(p)) + 1) % poses.length];
  Object.assign(p, { rotation: next.rotation, facing: next.facing });
  show();
  look(!held);
}

function remove() {
  if (chosen < 0) return;
  build.splice(chosen, 1);
  chosen = -1; weakest = []; held = null;
  show();
  look(true);
}

function clear() { changes++; build = []; chosen = -1; weakest = []; show(); verdict(null); }

function load(pieces) { build = pieces.map((p) => ({ ...p })); chosen = -1; weakest = []; show(); look(true); }

stage.addEventListener("pointerdown", (event) => {
  const n = event.target.dataset?.n;
  if (n === undefined) { chosen = -1; return show(); }
  take(Number(n), event);
});
addEventListener("pointermove", move);
addEventListener("pointerup", letGo);
addEventListener("pointercancel", letGo);
stage.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && chosen >= 0) { build[chosen].x += step * (event.shiftKey ? 10 : 1); show(); look(true); }
  else if (event.key === "ArrowUp" && chosen >= 0) { build[chosen].z = 230; show(); look(true); }
  else if (event.key === "r" || event.key === "R") turn();
  else if (event.key === "Delete" || event.key === "Backspace") remove();
  else if (event.key === "n" || event.key === "N") { chosen = build.length ? (chosen + 1) % build.length : -1; show(); }
  else return;
  event.preventDefault();
});
$("turn").addEventListener("click", turn);
$("remove").addEventListener("click", remove);
$("clear").addEventListener("click", clear);

async function save(card) {            // null where a card of that id stays as it is
  try {
    return await ask("/cards/save", card);
  } catch (error) {
    if (!error.replaces) throw error;
    return confirm(`${error.message}. ${said.dataset.replace}`) ? ask("/cards/save", { ...card, replace: true }) : null;
  }
}

$("save").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = $("save").elements;
  try {
    const kept = await save({ deck: form.deck.value, id: form.id.value,
      value: Number(form.value.value), pieces: build });
    if (!kept) return;
    said.textContent = `${said.dataset.saved}: ${kept.deck} (${kept.cards.length})`;
    if (![...$("deck").options].some((o) => o.value === kept.deck)) $("deck").add(new Option(kept.deck, kept.deck));
    $("deck").value = kept.deck;
    await faces();
  } catch (error) { said.textContent = error.message; }
});
$("propose").addEventListener("click", async () => {
  try {
    const value = Number($("save").elements.value.value);
    load((await ask("/cards/propose", { value, seed: Math.floor(Math.random() * 1e6) })).pieces);
  } catch (error) { said.textContent = error.message; }
});

async function faces() {
  const name = $("deck").value, root = `/cards/deck/${encodeURIComponent(name)}`;
  for (const link of document.querySelectorAll("[data-paper]")) link.href = `${root}/cards.pdf?paper=${link.dataset.paper}`;
  $("file").href = `${root}.json`;
  const deck = await ask(`${root}.json`);
  $("faces").replaceChildren(...deck.cards.map((card) => {
    const button = document.createElement("button"), picture = new Image();
    button.type = "button";
    button.dataset.id = card.id;
    picture.loading = "lazy";
    picture.alt = card.id;
    picture.src = `${root}/${encodeURIComponent(card.id)}.svg?${Date.now()}`;
    const label = document.createElement("span");
    label.textContent = card.id;
    button.append(picture, label);
    button.disabled = card.kind !== "layout";
    button.addEventListener("click", () => {
      $("save").elements.deck.value = name;
      $("save").elements.id.value = card.id;
      load(card.pieces);
    });
    return button;
  }));
}
$("deck").addEventListener("change", faces);
$("check").addEventListener("click", async () => {
  try {
    const rows = await ask(`/cards/deck/${encodeURIComponent($("deck").value)}/check.json`);
    const bad = rows.filter((r) => r.faults.length);
    said.textContent = bad.length ? bad.map((r) => `${r.id}: ${r.faults.join("; ")}`).join(" · ")
      : `${said.dataset.fair}: ${rows.length}`;
  } catch (error) { said.textContent = error.message; }
});
$("play").addEventListener("click", async () => {
  try { said.textContent = `${said.dataset.playing}: ${(await ask("/cards/play", { deck: $("deck").value })).deck}`; }
  catch (error) { said.textContent = error.message; }
});

set = await ask("/cards/set.json");
const ground = document.createElementNS(SVG, "path");
ground.setAttribute("d", `M-105 ${TOP}H105V260H-105Z`);
ground.setAttribute("fill", "#d9d3c4");
$("ground").append(ground);
makePalette();
show();
document.body.dataset.ready = "1";
await faces();
