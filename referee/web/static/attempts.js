// One recorded duel: single frames, slow motion, the time line and what was understood at any frame.
"use strict";

const video = document.getElementById("video");
const second = document.getElementById("video-2");
const overlay = document.getElementById("overlay");
const line = document.getElementById("timeline");
const words = document.getElementById("words").dataset;
const place = document.getElementById("place");
const SPEEDS = [1, 0.5, 0.25, 0.1];
const WIDTH = 1000;
const APART_S = 0.1;  // so far a second camera's film may run beside the first's
let story = { seconds: [], second: [], marks: [], timeline: {} };
let speed = 0;
let wanted = -1;  // the frame that was asked for last; the video follows

function number(value, digits) {
  return value.toFixed(digits).replace(".", document.documentElement.lang === "de" ? "," : ".");
}

// Times are told from the go, as on the board; before it they are negative.
function sinceGo(seconds) {
  return `${number(seconds - (story.go ?? 0), 2)} s`;
}

function frameAt(seconds, times = story.seconds) {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (times[middle] <= seconds + 1e-4) low = middle; else high = middle - 1;
  }
  return low;
}

// The middle of a frame's time: there every decoder shows that frame and no neighbour.
function middleOf(index, times = story.seconds) {
  const next = times[index + 1] ?? times[index] + 0.02;
  return (times[index] + next) / 2;
}

// The second camera's film shows what it had last seen at the first's moment; before it began, its first frame.
function showSecond() {
  if (!second || !story.second.length) return;
  const begins = story.second[0];
  const now = video.paused ? story.seconds[current()] : video.currentTime;
  const wish = (video.paused ? middleOf(frameAt(now, story.second), story.second) : now) - begins;
  const at = Math.max(0, Math.min(wish, second.duration || 0));
  const plays = !video.paused && at === wish;
  second.playbackRate = video.playbackRate;
  if (!second.seeking && Math.abs(second.currentTime - at) > (plays ? APART_S : 0.001)) second.currentTime = at;
  if (plays && second.paused) second.play(); else if (!plays && !second.paused) second.pause();
}

function current() {
  return wanted >= 0 ? wanted : frameAt(video.currentTime);
}

function goTo(index) {
  if (!story.seconds.length) return;
  wanted = Math.max(0, Math.min(story.seconds.length - 1, index));
  clipEnd = null;
  video.pause();
  video.currentTime = middleOf(wanted);
  show();
}

function show() {
  const index = current();
  place.value = story.seconds.length ? `${index + 1}/${story.seconds.length} · ${sinceGo(story.seconds[index])}` : "–";
  const head = line.querySelector(".head");
  if (head) for (const end of ["x1", "x2"]) head.setAttribute(end, x(story.seconds[index] ?? 0));
  if (!overlay.hidden) see(index);
  showSecond();
}

let looking = null;
function see(index) {
  clearTimeout(looking);
  looking = setTimeout(() => {
    const address = video.dataset.overlay.replace("/0.jpg", `/${index}.jpg`);
    if (overlay.getAttribute("src") === address) return;
    note(video.paused ? "wait" : "");
    overlay.src = address;
  }, 150);
}

function note(kind) {
  const at = document.getElementById("overlay-note");
  at.textContent = kind ? at.dataset[kind] : "";
}

overlay.addEventListener("load", () => note(""));
overlay.addEventListener("error", () => note("fault"));

const actions = {
  back: () => goTo(current() - 1),
  forward: () => goTo(current() + 1),
  play() {
    wanted = -1;
    clipEnd = null;
    if (video.paused) video.play(); else video.pause();
  },
  slow() {
    speed = (speed + 1) % SPEEDS.length;
    video.playbackRate = SPEEDS[speed];
    document.getElementById("speed").value = `${SPEEDS[speed]}×`;
  },
  stop() {
    const stop = story.marks.find((mark) => mark.name === "stop");
    if (stop) goTo(frameAt(stop.seconds));
  },
  mark() {
    const now = story.seconds[current()] ?? 0;
    const next = times().find((seconds) => seconds > now + 0.001);
    if (next !== undefined) goTo(frameAt(next));
  },
  overlay() {
    overlay.hidden = !overlay.hidden;
    document.querySelector("[data-do=overlay]").setAttribute("aria-pressed", String(!overlay.hidden));
    note("");
    if (!overlay.hidden) { video.pause(); see(current()); }
  },
};

const KEYS = { ArrowLeft: "back", ArrowRight: "forward", " ": "play", s: "slow", r: "stop", n: "mark", o: "overlay" };

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey) return;
  const action = KEYS[event.key];
  if (!action || (event.key === " " && event.target.closest("button, a"))) return;
  event.preventDefault();
  if (event.shiftKey && action === "back") goTo(current() - 10);
  else if (event.shiftKey && action === "forward") goTo(current() + 10);
  else actions[action]();
});

for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => actions[button.dataset.do]());
}

video.addEventListener("play", () => { wanted = -1; overlay.hidden = true; note(""); tick(); });
video.addEventListener("error", () => { document.getElementById("no-video").hidden = false; });
for (const event of ["seeked", "pause"]) video.addEventListener(event, show);
for (const event of ["seeked", "loadedmetadata"]) second?.addEventListener(event, showSecond);
function tick() {
  show();
  if (!video.paused) requestAnimationFrame(tick);
}

line.addEventListener("click", (event) => {
  const box = line.getBoundingClientRect();
  goTo(frameAt((event.clientX - box.left) / box.width * length()));
});

function length() {
  return story.seconds[story.seconds.length - 1] || 1;
}

function x(seconds) {
  return Math.max(0, Math.min(WIDTH, seconds / length() * WIDTH)).toFixed(1);
}

function draw(kind, attributes, title) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (title) {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "title");
    text.textContent = title;
    made.append(text);
  }
  line.append(made);
}

// A press says why it did not count; data-too-early is words.tooEarly.
function wordOf(mark) {
  const name = mark.why || mark.name;
  return words[name.replace(/_(.)/g, (_, letter) => letter.toUpperCase())] || name;
}

function rows() {
  const found = story.marks.map((mark) => ({ at: mark.seconds, zone: mark.zone || "", text: wordOf(mark), elapsed: mark.elapsed }));
  for (const [zone, told] of Object.entries(story.timeline.zones || {})) {
    for (const piece of told.placed) {
      const unsure = piece.within_s ? ` (± ${number(piece.within_s, 1)} s)` : "";  // a hand hid the place
      found.push({ at: piece.seconds, zone, text: `${words.placed}: ${piece.name}${unsure}` });
    }
    for (const [from, to] of told.hands) {
      found.push({ at: from, zone, text: words.handIn }, { at: to, zone, text: words.handOut });
    }
  }
  for (const foul of story.timeline.fouls || []) {
    const who = foul.culprit && foul.culprit !== foul.zone ? ` (${foul.culprit})` : "";
    found.push({ at: foul.seconds, zone: foul.zone, text: `⚑ ${wordOf({ name: foul.kind })}${who}, ${Math.round(100 * foul.sure)} %`, clip: true });
  }
  for (const row of story.timeline.findings || []) {
    found.push({ at: row.seconds, zone: row.zone, text: `⚑ ${wordOf({ name: row.finding })}`, clip: true });
  }
  return found.sort((a, b) => a.at - b.at);
}

function times() {
  return [...new Set(rows().map((row) => row.at))].sort((a, b) => a - b);
}

function drawLine() {
  line.replaceChildren();
  const zones = Object.keys(story.timeline.zones || {});
  const squeezed = WIDTH / (line.getBoundingClientRect().width || WIDTH);  // the drawing fills the page's width
  zones.forEach((zone, n) => {
    const top = 12 + n * 62;
    const told = story.timeline.zones[zone];
    for (const [from, to] of told.hands) {
      draw("rect", { class: "hand", x: x(from), y: top, width: Math.max(2, x(to) - x(from)), height: 44 }, `${zone} ${words.hands}`);
    }
    for (const piece of told.placed) {
      draw("ellipse", { class: "piece", cx: x(piece.seconds), cy: top + 22, rx: 8 * squeezed, ry: 8, fill: piece.paint },
        `${zone} ${sinceGo(piece.seconds)} ${piece.name}`);
    }
  });
  for (const mark of story.marks) {
    draw("line", { class: `mark mark-${mark.name}`, x1: x(mark.seconds), x2: x(mark.seconds), y1: 0, y2: 140 }, wordOf(mark));
  }
  for (const foul of story.timeline.fouls || []) {
    const at = Number(x(foul.seconds));
    const top = 12 + Math.max(0, zones.indexOf(foul.zone)) * 62;
    const [pole, tip] = [1.5 * squeezed, 18 * squeezed];  // a flag in the lane of its field, as in the table
    draw("path", { class: "fall", d: `M ${at - pole} ${top} L ${at + tip} ${top + 10} L ${at + pole} ${top + 20} V ${top + 44} H ${at - pole} Z` },
      `${foul.zone} ${sinceGo(foul.seconds)} ${wordOf({ name: foul.kind })}`);
  }
  for (const row of story.timeline.findings || []) {
    const at = Number(x(row.seconds));
    draw("path", { class: "fall", d: `M ${at - 9} 4 L ${at + 9} 4 L ${at} 22 Z` }, wordOf({ name: row.finding }));
  }
  draw("line", { class: "head", x1: 0, x2: 0, y1: 0, y2: 140 });
}

// A proposed foul is shown by the two seconds around its beginning; whatever else is asked for ends that.
const CLIP_S = 2;
let clipEnd = null;
function playUntil(end) {
  clipEnd = end;
  video.addEventListener("seeked", () => { if (clipEnd === end) video.play(); }, { once: true });
}

video.addEventListener("timeupdate", () => {
  if (clipEnd === null || video.currentTime < clipEnd) return;
  clipEnd = null;
  video.pause();
});

function fillTable() {
  const table = document.getElementById("events");
  const body = table.tBodies[0];
  body.replaceChildren();
  for (const row of rows()) {
    const cells = body.insertRow();
    const jump = document.createElement("button");
    jump.type = "button";
    jump.textContent = row.elapsed ? `${row.elapsed} s` : sinceGo(row.at);
    jump.addEventListener("click", () => {
      goTo(frameAt(row.clip ? Math.max(0, row.at - CLIP_S / 2) : row.at));
      video.scrollIntoView({ block: "nearest" });
      if (row.clip) playUntil(row.at + CLIP_S / 2);
    });
    cells.insertCell().append(jump);
    cells.insertCell().textContent = row.zone;
    cells.insertCell().textContent = row.text;
  }
  table.hidden = false;
}

window.addEventListener("resize", () => { drawLine(); show(); });

async function load() {
  const answer = await fetch(video.dataset.story);
  if (!answer.ok) return;
  story = await answer.json();
  drawLine();
  fillTable();
  show();
  const at = document.getElementById("timeline-note");
  const lanes = Object.keys(story.timeline.zones || {}).map((zone, n) => `${"▀▄"[n] || "·"} ${zone}`).join("   ");
  at.textContent = story.timeline.pending ? at.dataset.pending : story.timeline.problem || lanes;
  document.body.dataset.story = story.timeline.pending ? "pending" : "there";
  if (story.timeline.pending) setTimeout(load, 1500);
}

load();
