// Moves by touch. Every legal move says what is tapped for it (data-ids of its line in the list), every target what it
// stands for (data-target: alternatives with spaces, each of parts with +). What goes on with what is tapped is lit; of
// the rest the rules say why not. A target of a group takes the place of the tapped one of that group; a target with
// data-many is tapped so often. "do=" is the command itself: beside other parts it says of which command these are, and
// it need not be tapped where no target is that alone.
"use strict";
(() => {
  let tapped = [];
  const form = () => document.querySelector("form.taps");
  const targets = () => [...document.querySelectorAll("#game [data-target]:not([data-less])")];
  const moves = () => [...(form()?.querySelectorAll("select[name=choice] option") ?? [])];
  const ids_of = (move) => move.dataset.ids.split(" ");
  const names_of = (parts) => parts.map((part) => part.slice(0, part.indexOf("=")));
  const alternatives = (target) => target.dataset.target.split(" ").map((one) => one.split("+"));

  const without = (ids, parts) => {
    const rest = [...ids];
    for (const part of parts) {
      const at = rest.indexOf(part);
      if (at < 0) return null;
      rest.splice(at, 1);
    }
    return rest;
  };
  const is_do = (part) => part.startsWith("do=");
  const own = (parts) => (parts.every(is_do) ? parts : parts.filter((part) => !is_do(part))); // what a tap uses up
  const left = (ids, taps, all = ids) => { // what is still to be tapped of a move, null where the taps are not of it
    if (!taps.length) return ids;
    for (const parts of alternatives(taps[0])) {
      if (!parts.filter(is_do).every((part) => all.includes(part))) continue;
      const rest = without(ids, own(parts)), then = rest && left(rest, taps.slice(1), all);
      if (then) return then;
    }
    return null;
  };
  const fitting = (taps) => moves().filter((move) => left(ids_of(move), taps));
  const whole = (move, taps) => taps.length > 0
    && left(ids_of(move), taps).every((id) => is_do(id) && !targets().some((target) => target.dataset.target.split(" ").includes(id)));
  const beside = (target) => tapped.filter((one) => !target.dataset.group || one.dataset.group !== target.dataset.group);
  const goes_on = (target) => {
    const full = target.dataset.many && tapped.filter((one) => one === target).length >= Number(target.dataset.many);
    return !full && fitting([...beside(target), target]).length > 0;
  };
  const offered = () => {
    const fit = fitting(tapped), done = fit.filter((move) => whole(move, tapped));
    return done.length === 1 ? done[0] : fit.length === 1 ? fit[0] : null;
  };

  const say = (text) => { document.getElementById("tapped").textContent = text; };
  const worth = () => { // of what is tapped: money beside a price
    const price = tapped.find((one) => one.dataset.price);
    const paid = tapped.reduce((sum, one) => sum + Number(one.dataset.worth || 0), 0);
    return paid || price ? `${paid}${price ? ` / ${price.dataset.price}` : ""} · ` : "";
  };
  const show = () => {
    if (!form()) return;
    const move = offered(), select = form().querySelector("select[name=choice]");
    for (const target of targets()) {
      const count = tapped.filter((one) => one === target).length, live = count > 0 || goes_on(target);
      target.classList.toggle("lit", live && count === 0);
      if (target.dataset.many) {
        target.parentElement.querySelector("output").textContent = count;
        target.parentElement.querySelector("[data-less]").disabled = count === 0;
        target.toggleAttribute("data-full", !goes_on(target));
      } else target.setAttribute("aria-pressed", String(count > 0));
      target.setAttribute("aria-disabled", String(!live));
    }
    if (move) select.value = move.value;
    form().querySelector("button.primary").disabled = !move;
    form().querySelector("[data-afresh]").hidden = tapped.length === 0;
    const { start, more } = form().dataset;
    say(move ? move.textContent : worth() + (tapped.length ? more : start));
  };

  const why_not = async (target) => {
    const { why, not } = form().dataset, taps = beside(target);
    for (const parts of alternatives(target)) {
      const names = names_of(own(parts)), of_it = parts.filter(is_do);
      const has = (move) => names.every((name) => names_of(ids_of(move)).includes(name)) && of_it.every((part) => ids_of(move).includes(part));
      const base = [...fitting(taps), ...moves()].find(has);
      if (!base || names.includes("do")) continue;
      const asked = new URLSearchParams({ choice: base.value });
      for (const one of [...taps, target]) {
        const of = alternatives(one).find((each) => names_of(each).every((name) => names_of(ids_of(base)).includes(name)));
        for (const part of own(one === target ? parts : of ?? [])) asked.append(part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1));
      }
      const said = await fetch(`${why}?${asked}`).then((answer) => (answer.ok ? answer.text() : ""), () => "");
      if (said) return said;
    }
    return not;
  };

  const tap = async (target) => {
    if (!target.dataset.many && tapped.includes(target)) tapped = tapped.filter((one) => one !== target);
    else if (goes_on(target)) tapped = [...beside(target), target];
    else {
      target.classList.remove("no");
      void target.offsetWidth; // the shake begins anew
      target.classList.add("no");
      const said = await why_not(target);
      if (document.contains(target)) say(said);
      return;
    }
    show();
  };
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-target]");
    if (event.target.closest("[data-afresh]")) { tapped = []; show(); }
    else if (!target || !form()) return;
    else if ("less" in target.dataset) {
      const plus = target.parentElement.querySelector("[data-many]"), at = tapped.lastIndexOf(plus);
      if (at >= 0) tapped.splice(at, 1);
      show();
    } else tap(target);
  });
  document.addEventListener("change", (event) => { // from the list
    if (!event.target.matches("form.taps select")) return;
    const { value, selectedOptions } = event.target;
    tapped = [];
    show();
    event.target.value = value;
    say(selectedOptions[0].textContent);
    form().querySelector("button.primary").disabled = false;
  });
  document.addEventListener("table", () => { // the page was drawn anew: what was tapped is tapped again where it can be
    const before = tapped.map((one) => one.dataset.target);
    tapped = [];
    begin();
    for (const what of before) {
      const again = targets().find((one) => one.dataset.target === what && (one.dataset.many || !tapped.includes(one)));
      if (again && form() && goes_on(again)) tapped.push(again);
    }
    show();
  });
  const begin = () => {
    const list = form()?.querySelector("details");
    if (list) list.open = false;
    show();
  };
  begin();
})();
