// Ask for news; when there is some, fetch the page and put its table in place of the old one.
"use strict";
const EVERY_MS = 700;
const stale = document.getElementById("stale");

// A phone's closed list shows the beginning of a move only: all of it stands below.
function spell() {
  const list = document.querySelector('select[name="choice"]');
  if (list) document.getElementById("chosen").textContent = list.selectedOptions[0]?.textContent ?? "";
}
document.addEventListener("change", spell);
spell();

async function look() {
  const game = document.getElementById("game");
  try {
    const news = await (await fetch("/version")).json();
    stale.hidden = true;
    if (String(news.version) !== game.dataset.version && location.pathname) {
      const path = location.pathname.startsWith("/referee") ? "/" : location.pathname;
      const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
      const fresh = page.getElementById("game");
      if (fresh) game.replaceWith(document.adoptNode(fresh));
      spell();
    }
  } catch {
    stale.hidden = false;
  }
  setTimeout(look, EVERY_MS);
}
setTimeout(look, EVERY_MS);
