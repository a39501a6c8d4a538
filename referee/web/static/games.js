// Ask for news; when there is some, fetch the page and put its table in place of the old one. A phone whose turn has
// come says so by sound and by shaking, unless it is muted.
"use strict";
(() => {
  const EVERY_MS = 700;
  const stale = document.getElementById("stale"), bell = document.getElementById("bell");
  const muted = () => { try { return localStorage.getItem("mute") === "yes"; } catch { return false; } };
  const chime = bell && new Audio("/static/sounds/ask.wav");

  const mark = () => { bell?.setAttribute("aria-pressed", String(!muted())); };
  bell?.addEventListener("click", () => {
    try { localStorage.setItem("mute", muted() ? "no" : "yes"); } catch { /* private window */ }
    mark();
    if (!muted()) call(); // a browser plays only what a touch has begun once
  });
  const call = () => {
    navigator.vibrate?.([200, 100, 200]);
    chime.play().catch(() => { /* before the first touch */ });
  };
  mark();

  const draw = (old, fresh) => {
    const unfolded = [...old.querySelectorAll("details[open] > summary")].map((el) => el.textContent);
    const turn = !old.dataset.turn && fresh.dataset.turn;
    old.replaceWith(document.adoptNode(fresh));
    const board = document.body.classList.contains("page-game"); // there the latest scoring alone stands open
    for (const el of fresh.querySelectorAll("details > summary")) el.parentElement.open ||= !board && unfolded.includes(el.textContent);
    document.dispatchEvent(new Event("table"));
    document.title = (fresh.dataset.turn ? "● " : "") + document.title.replace(/^● /, "");
    if (turn && bell && !muted()) call();
  };
  const look = async () => {
    const game = document.getElementById("game");
    try {
      const news = await (await fetch("/version")).json();
      stale.hidden = true;
      if (String(news.version) !== game.dataset.version) {
        const path = location.pathname.startsWith("/referee") ? "/referee" : location.pathname; // not the page of a camera's look
        const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
        const fresh = page.getElementById("game");
        if (fresh) draw(game, fresh);
      }
    } catch {
      stale.hidden = false;
    }
    setTimeout(look, EVERY_MS);
  };
  setTimeout(look, EVERY_MS);
})();
