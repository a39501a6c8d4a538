// The console: buttons and keys send commands to the API; dialogs ask for what a command needs.
(() => {
  const toast = document.getElementById("toast");
  let fading = 0;

  const say = (text, bad) => {
    toast.textContent = text;
    toast.classList.toggle("bad", Boolean(bad));
    toast.hidden = false;
    clearTimeout(fading);
    fading = setTimeout(() => { toast.hidden = true; }, 6000);
  };

  const send = async (name, body) => {
    const answer = await fetch(`/api/commands/${name}`, {
      method: "POST", credentials: "same-origin", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Accept": "application/json" },
    }).catch(() => null);
    if (!answer) return { text: "…" };
    if (answer.ok) return null;
    const said = await answer.json().catch(() => ({}));
    return { text: said.error || String(answer.status), confirm: said.confirm };
  };

  const known = () => { try { return localStorage.getItem("who") || ""; } catch { return ""; } };
  const remember = (who) => { try { localStorage.setItem("who", who); } catch { /* private window */ } };

  // Cards are named by their picture or by typing: the typed beginning leaves only the cards that fit it.
  const markCard = (input) => {
    for (const card of input.form.querySelectorAll("[data-pick-card]"))
      card.setAttribute("aria-pressed", String(card.dataset.pickCard === input.value));
  };
  const filterCards = (input) => {
    const begin = input.value.trim().toLowerCase();
    for (const card of input.form.querySelectorAll("[data-pick-card]"))
      card.hidden = !card.dataset.pickCard.toLowerCase().startsWith(begin);
    markCard(input);
  };
  document.addEventListener("input", (e) => { if (e.target.form) delete e.target.form.dataset.confirm; });
  document.addEventListener("input", (e) => { if ("cardFilter" in e.target.dataset) filterCards(e.target); });

  const open = (id, fill, about) => {
    const dialog = document.getElementById(`dialog-${id}`);
    about ??= document.querySelector(`[data-dialog="${id}"][data-about]`)?.dataset.about;
    for (const place of dialog.querySelectorAll("[data-about-text]")) place.textContent = about || "";
    const form = dialog.querySelector("form");
    form.reset();
    delete form.dataset.confirm;
    const fault = form.querySelector(".fault");
    if (fault) fault.hidden = true;
    for (const field of form.querySelectorAll("[data-who]")) field.value = document.body.dataset.name || known();
    for (const [name, value] of Object.entries(fill)) if (form.elements[name]) form.elements[name].value = value;
    for (const input of form.querySelectorAll("[data-card-filter]")) filterCards(input);
    people(form, id);
    for (const place of form.querySelectorAll("[data-zones]")) zones(place, fill.zone);
    for (const switcher of form.querySelectorAll("[data-switch-command]")) switched(switcher);
    dialog.showModal();
    const first = [...form.querySelectorAll("select, input:not([type=hidden])")].find((f) => !f.value && f.offsetParent);
    first?.focus();
  };

  // A dead heat is ruled zone by zone: the dialog asks whose build is meant.
  const zones = (place, chosen) => {
    const open = JSON.parse(document.getElementById("open-zones")?.dataset.zones || "[]");
    place.hidden = open.length < 2;
    const select = place.querySelector("select");
    select.replaceChildren(...open.map(([zone, name]) => new Option(`${zone} · ${name}`, zone)));
    if (chosen) select.value = chosen;
  };

  const offer = (form, names) => {
    for (const select of form.querySelectorAll("select[data-people]")) {
      const chosen = select.value;
      select.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
    }
  };
  // An open dialog follows a change of the players, made on this page a moment ago or on another one.
  document.addEventListener("part", (e) => {
    const dialog = document.querySelector("dialog[open]"), now = document.getElementById("people-now");
    if (e.detail !== "more" || !dialog || !now) return;
    offer(dialog, JSON.parse(dialog.id === "dialog-rename" ? now.dataset.names : now.dataset.active));
  });

  // Who plays, as it is now: a page that stands open all evening has old lists. A new match begins with the same names.
  const people = (form, id) => {
    const now = document.getElementById("people-now");
    if (!now) return;
    const names = JSON.parse(now.dataset.names), active = JSON.parse(now.dataset.active);
    offer(form, id === "rename" ? names : active);
    const choices = JSON.parse(document.querySelector(`[data-dialog="${id}"][data-choices]`)?.dataset.choices || "null");
    for (const select of choices ? form.querySelectorAll("[data-switch-command]") : [])
      select.replaceChildren(...choices.map(([command, text]) => new Option(text, command)));
    const rows = [...form.querySelectorAll("[name=players]")];
    rows.forEach((row, n) => {
      row.value = names[n] || "";
      if (names[n]) row.closest("[data-extra]")?.removeAttribute("hidden");
    });
    for (const place of form.querySelectorAll("[data-open-match]")) {
      place.hidden = !now.dataset.open;
      place.querySelector("[data-open-text]").textContent = now.dataset.open;
    }
  };

  const switched = (select) => {
    select.form.dataset.command = select.value;
    for (const part of select.form.querySelectorAll("[data-only]")) {
      part.hidden = !part.dataset.only.split(" ").includes(select.value);
      for (const field of part.querySelectorAll("input, select")) field.disabled = part.hidden;
    }
  };

  const value = (field) => {
    if (field.dataset.type === "int") return field.value === "" ? null : Number(field.value);
    if (field.dataset.type === "index") return Number(field.value) - 1;
    if (field.type === "number") return field.value === "" ? null : Number(field.value);
    return field.value;
  };

  const OPTIONAL = new Set(["zone", "number", "sanction", "seed"]);
  const body = (form) => {
    const found = {};
    for (const field of form.elements) {
      if (!field.name || field.disabled) continue;
      const v = value(field);
      if (field.name === "players") { if (v.trim()) (found.players ||= []).push(v.trim()); }
      else if ((v === "" || v === null) && OPTIONAL.has(field.name)) continue;
      else found[field.name] = v;
    }
    for (const field of form.querySelectorAll("[data-rule]")) {
      const v = value(field);
      if (v !== null) (found.rules ||= {})[field.dataset.rule] = v;
    }
    return found;
  };

  document.addEventListener("submit", async (e) => {
    const form = e.target;
    if (!form.dataset.command) return;
    e.preventDefault();
    const asked = body(form);
    if (form.dataset.confirm) asked[form.dataset.confirm] = true;
    if (asked.who) remember(asked.who);
    const submit = form.querySelector("[type=submit]");
    submit.disabled = true;
    const fault = await send(form.dataset.command, asked);
    submit.disabled = false;
    const place = form.querySelector(".fault");
    place.hidden = !fault;
    place.textContent = fault?.text || "";
    // What is seldom meant is asked: the same button pressed once more says yes, any other answer takes it back.
    if (fault?.confirm) form.dataset.confirm = fault.confirm; else delete form.dataset.confirm;
    if (!fault) {
      form.closest("dialog").close();
      if (["CreateMatch", "TakeUpMatch"].includes(form.dataset.command)) location.reload();
    }
  });

  document.addEventListener("click", async (e) => {
    const button = e.target.closest("button");
    if (!button) return;
    if ("pickCard" in button.dataset) {
      e.preventDefault();
      const input = button.closest("form").elements.card_id;
      input.value = button.dataset.pickCard;
      delete input.form.dataset.confirm;
      markCard(input);
    } else if ("close" in button.dataset) { e.preventDefault(); button.closest("dialog").close(); }
    else if (button.dataset.quick) choose(button);
    else if (button.dataset.why) settle(button.dataset.why);
    else if (button.dataset.zoom) zoom(button.dataset.zoom);
    else if ("unpause" in button.dataset) show({ paused: false });
    else if ("count" in button.dataset) countDown(button);
    else if (button.dataset.dialog) open(button.dataset.dialog, JSON.parse(button.dataset.fill || "{}"), button.dataset.about);
    else if ("morePlayers" in button.dataset) {
      for (const row of button.form.querySelectorAll("[data-extra]")) row.hidden = false;
      button.hidden = true;
    } else if (button.dataset.do) {
      button.disabled = true;
      const fault = await send(button.dataset.do, JSON.parse(button.dataset.body || "{}"));
      button.disabled = false;
      if (fault) say(fault.text, true);
    } else if (button.dataset.endLogin) {
      button.disabled = true;
      const answer = await fetch(`/logins/${button.dataset.endLogin}/end`, {
        method: "POST", credentials: "same-origin", redirect: "manual",
      }).catch(() => null);
      if (!answer || answer.status >= 400) { button.disabled = false; say(String(answer?.status ?? "…"), true); }
    }
  });

  // A ruling in two presses: what, then why. Who it was is known from the login or the last time.
  let chosen = null;
  const asked = () => document.querySelector("[data-quick-of]")?.dataset.quickOf;
  const choose = (button) => {
    chosen = { ...JSON.parse(button.dataset.quick), key: button.dataset.quick, of: asked() };
    for (const key of document.querySelectorAll("[data-quick]")) key.setAttribute("aria-pressed", String(key === button));
    for (const row of document.querySelectorAll("[data-chips]")) row.hidden = false;
  };
  const settle = async (why) => {
    const who = document.body.dataset.name || known();
    if (!chosen) return;
    if (!who) {
      open(chosen.command === "Overrule" ? "overrule" : "rule", { ...chosen.body, why });
      return;
    }
    const fault = await send(chosen.command, { ...chosen.body, who, why });
    chosen = null;
    if (fault) say(fault.text, true);
  };
  const unchoose = () => {
    chosen = null;
    for (const key of document.querySelectorAll("[data-quick]")) key.setAttribute("aria-pressed", "false");
    for (const row of document.querySelectorAll("[data-chips]")) row.hidden = true;
  };
  // A page that is drawn again (a picture has come) keeps the first press, as long as the same is asked.
  document.addEventListener("part", (e) => {
    if (!chosen || !["act", "evidence"].includes(e.detail)) return;
    const keys = chosen.of === asked() ? [...document.querySelectorAll("[data-quick]")] : [];
    const same = keys.find((key) => key.dataset.quick === chosen.key);
    if (same) choose(same); else unchoose();
  });

  const zoom = (address) => {
    const dialog = document.getElementById("dialog-zoom");
    dialog.querySelector("img").src = address;
    dialog.showModal();
  };

  // What the board does: sound, sides, pause, countdown.
  const post = async (path, body) => {
    const answer = await fetch(path, {
      method: "POST", credentials: "same-origin", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Accept": "application/json" },
    }).catch(() => null);
    const told = answer ? await answer.json().catch(() => ({})) : {};
    return { fault: answer?.ok ? null : told.error || "…", told };
  };
  const show = async (values) => {
    const { fault } = await post("/evening", values);
    if (fault) say(fault, true);
    return fault;
  };
  let counting = 0;
  const countDown = async (button) => {
    if (counting) return;
    const { fault, told } = await post("/evening/count", {});
    if (fault) { say(fault, true); return; }
    counting = setTimeout(async () => {
      counting = 0;
      const refused = await send("Go", {});
      if (refused) say(refused.text, true);
    }, told.seconds * 1000);
  };
  document.addEventListener("change", (e) => {
    const name = e.target.dataset?.eveningSet;
    if (name) show({ [name]: e.target.type === "checkbox" ? e.target.checked : Number(e.target.value) });
  });
  document.addEventListener("submit", async (e) => {
    if (!("pause" in e.target.dataset)) return;
    e.preventDefault();
    const fault = await show({ paused: true, pause: e.target.elements.pause.value, back: e.target.elements.back.value });
    if (!fault) e.target.closest("dialog").close();
  });
  document.addEventListener("part", (e) => {
    const evening = document.getElementById("evening");
    if (e.detail === "more" && evening) document.body.classList.toggle("swapped", JSON.parse(evening.dataset.evening).swapped);
  });

  document.addEventListener("change", (e) => { if ("switchCommand" in e.target.dataset) switched(e.target); });

  const EVERYWHERE = { "?": "help" };
  const ARROWS = { ArrowLeft: ["1", "2"], ArrowRight: ["2", "1"] }; // the side it points to, as the board hangs
  // Hands at rest: a key or button held down stands for tongs on their pad, and what lets go of it may be elsewhere:
  // a finger that has slid off, a window that has lost the keyboard, a button that was drawn again meanwhile.
  const held = new Map();
  const rest = async (zone, resting) => {
    const fault = await send("RestTongs", { zone, resting });
    if (fault) say(fault.text, true);
  };
  const hold = (by, button) => {
    if (!button || held.has(by)) return;
    held.set(by, button.dataset.rest);
    rest(button.dataset.rest, true);
  };
  const release = (by) => {
    if (!held.has(by)) return;
    rest(held.get(by), false);
    held.delete(by);
  };
  document.addEventListener("keydown", (e) => {
    if (e.repeat || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
    hold(e.key, [...document.querySelectorAll("[data-rest]")].find((b) => b.dataset.restkey === e.key));
  });
  document.addEventListener("keyup", (e) => release(e.key));
  document.addEventListener("pointerdown", (e) => hold(e.pointerId, e.target.closest("[data-rest]")));
  for (const event of ["pointerup", "pointercancel"]) document.addEventListener(event, (e) => release(e.pointerId));
  window.addEventListener("blur", () => { for (const by of [...held.keys()]) release(by); });

  // What the keyboard stands on has its own use of some keys; a switch just set does not silence all the others.
  const OWN_KEYS = { checkbox: [" "], range: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"] };
  const keeps = (at, key) => {
    if (at.closest("summary, a")) return [" ", "Enter"].includes(key);
    return Boolean(at.closest("input, select, textarea")) && (OWN_KEYS[at.type] || [key]).includes(key);
  };

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || document.querySelector("dialog[open]")) return;
    if (keeps(e.target, e.key)) return;
    const key = ARROWS[e.key]?.[Number(document.body.classList.contains("swapped"))] || e.key.toLowerCase();
    const chip = chosen && document.querySelector(`[data-chipkey="${CSS.escape(key)}"]`);
    if (chip) { e.preventDefault(); chip.click(); return; }
    if (chosen && e.key === "Escape") { unchoose(); return; }
    const button = [...document.querySelectorAll("[data-hotkey]")].find((b) => b.dataset.hotkey.split("|").includes(key) && !b.disabled);
    if (button?.dataset.do === "PressStop") {
      e.preventDefault();
      window.stopByKey(JSON.parse(button.dataset.body).zone, e.timeStamp).then((fault) => { if (fault) say(fault, true); });
    } else if (button) { e.preventDefault(); button.focus(); button.click(); }
    else if (EVERYWHERE[key]) { e.preventDefault(); open(EVERYWHERE[key], {}); }
  });
})();
