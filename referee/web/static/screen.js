// A board on a wall: full screen, a screen that stays awake, panels that take turns, long lists that turn pages.
(() => {
  // --- between duels panels take turns: what is called, then one of the others; nothing changes for who wants no motion
  const TURN_MS = 8000, still_please = matchMedia("(prefers-reduced-motion: reduce)");
  const turned_to = (count) => { // the first of so many, and every other time one of the rest
    const step = Math.floor(Date.now() / TURN_MS) % (2 * (count - 1) || 1);
    return step % 2 ? (step + 1) / 2 : 0;
  };
  const turn = () => {
    const panels = [...document.querySelectorAll("[data-turn]")], shown = still_please.matches ? 0 : turned_to(panels.length);
    panels.forEach((panel, n) => { panel.hidden = n !== shown; });
  };
  // --- lists too long for a projector turn pages between duels, without motion; under a pointer or the keys they scroll
  const wide = matchMedia("(min-width: 1000px) and (min-height: 620px)");
  const top = (el) => el.getBoundingClientRect().top, bottom = (el) => el.getBoundingClientRect().bottom;
  const sheets_of = (rows, space, most) => {
    const sheets = [];
    for (const row of rows) {
      const sheet = sheets.at(-1);
      const beside = sheet && top(row) === top(sheet.at(-1)); // in a grid
      if (beside || (sheet && sheet.length < most && bottom(row) - top(sheet[0]) <= space)) sheet.push(row);
      else sheets.push([row]);
    }
    return sheets;
  };
  const POINTS_MS = 20000; // so long a pointer that rests there holds a list up; nobody may be at the computer
  let pointed = 0;
  addEventListener("pointermove", () => { pointed = Date.now(); });
  const read_by_hand = (box) => box.matches(":focus-within") || (box.matches(":hover") && Date.now() - pointed < POINTS_MS);
  const turn_pages = (box) => {
    const rows = [...box.querySelectorAll(box.dataset.pages)], mark = box.querySelector(".page");
    rows.forEach((row) => { row.hidden = false; });
    box.style.minHeight = "";
    if (mark) mark.textContent = "";
    if (!wide.matches || box.scrollHeight <= box.clientHeight || read_by_hand(box)) return;
    box.scrollTop = 0;
    const shown = rows.filter((row) => bottom(row) > top(row)), padding = parseFloat(getComputedStyle(box).paddingBottom) + 2;
    if (!shown.length) return;
    const head = top(shown[0]) - top(box), space = box.offsetHeight - head - padding;
    const even = Math.ceil(shown.length / sheets_of(shown, space, Infinity).length), sheets = sheets_of(shown, space, even);
    const highest = Math.min(space, Math.max(...sheets.map((sheet) => bottom(sheet.at(-1)) - top(sheet[0]))));
    box.style.minHeight = `${head + highest + padding}px`; // all pages are as high: nothing below moves
    const n = ["building", "ready"].includes(document.body.dataset.phase) ? 0 : turned_to(sheets.length);
    shown.forEach((row) => { row.hidden = !sheets[n].includes(row); });
    if (mark) mark.textContent = `${n + 1}/${sheets.length}`;
  };
  const turn_all = () => {
    turn();
    document.querySelectorAll("[data-pages]").forEach(turn_pages);
  };
  // --- letters as large as a list leaves room for, between data-fit's two sizes in hundredths of the screen's width
  const fit = (box) => {
    const [least, most] = box.dataset.fit.split(" ").map((share) => share * innerWidth / 100);
    box.style.fontSize = "";
    if (!wide.matches) return;
    box.querySelectorAll("[hidden]").forEach((row) => { row.hidden = false; });
    for (let size = most; size >= least; size -= 1) {
      box.style.fontSize = `${size}px`;
      if (box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth) return;
    }
    box.style.fontSize = `${least}px`;
  };
  const fit_all = () => {
    document.querySelectorAll("[data-fit]").forEach(fit);
    turn_all();
  };
  fit_all();
  setInterval(turn_all, 1000);
  addEventListener("resize", fit_all);
  document.addEventListener("part", fit_all);

  // --- the screen
  const wake = async () => {
    if (!document.body.classList.contains("kiosk") && !document.fullscreenElement) return;
    try { await navigator.wakeLock?.request("screen"); } catch { /* it may sleep then */ }
  };
  const full = async () => {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else await document.documentElement.requestFullscreen();
    } catch { /* not allowed here */ }
    wake();
  };
  document.getElementById("fullscreen")?.addEventListener("click", full);
  document.addEventListener("keydown", (e) => {
    if (e.target.matches?.("input, select, textarea")) return; // somebody writes
    if (e.key.toLowerCase() !== "f" || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
    e.preventDefault();
    full();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) wake(); });
  wake();
})();
