// The board in a room: full screen, a screen that stays awake, sound and voice, the countdown, live builds.
// Whatever a browser refuses is left out; the duel goes on without it.
(() => {
  const read = () => JSON.parse(document.getElementById("evening")?.dataset.evening || "{}");
  const loud = document.body.classList.contains("kiosk") || Boolean(document.querySelector(".builds"));
  const unmute = document.getElementById("unmute");
  const count = document.getElementById("countdown");
  const players = new Map();
  let heard = null; // the key of what was announced last; nothing is announced of what stood there already
  let counted = 0;

  // --- sound and voice
  const sound = (name, evening) => {
    if (!loud || !evening.sound || !name) return;
    if (!players.has(name)) players.set(name, new Audio(`/static/sounds/${name}.wav`));
    const player = players.get(name);
    player.volume = evening.volume / 100;
    player.currentTime = 0;
    player.play().then(() => { unmute.hidden = true; }).catch((fault) => {
      if (fault.name === "NotAllowedError") unmute.hidden = false;
    });
  };
  const speak = (text, evening) => {
    if (!loud || !evening.sound || !evening.speech || !text || !("speechSynthesis" in window)) return;
    try {
      const words = new SpeechSynthesisUtterance(text);
      words.lang = document.documentElement.lang;
      words.volume = evening.volume / 100;
      speechSynthesis.cancel();
      speechSynthesis.speak(words);
    } catch { /* no voice here */ }
  };
  unmute.addEventListener("click", () => { unmute.hidden = true; sound("count", read()); });

  // --- what has changed
  const follow = () => {
    const evening = read();
    document.body.classList.toggle("swapped", Boolean(evening.swapped));
    document.body.dataset.phase = evening.phase || "";
    films(evening.phase === "building");
    if (heard !== null && evening.key !== heard) {
      sound(evening.cue, evening);
      speak(evening.say, evening);
    }
    heard = evening.key;
  };
  // Stills one after the other, not films: a browser opens six lines to one host, and the console, in another tab of
  // the same browser, holds three of them.
  const STILL_MS = 200;
  let running = false;
  const still = (builds, n) => {
    if (!running || document.hidden) return;
    const again = () => setTimeout(still, STILL_MS, builds, (n + 1) % builds.length);
    const next = new Image();
    next.onload = () => { builds[n].src = next.src; again(); };
    next.onerror = again;
    next.src = `${builds[n].dataset.building}?${Date.now()}`;
  };
  const films = (run) => {
    const builds = [...document.querySelectorAll("img[data-building]")];
    const begin = run && !running && builds.length > 0;
    running = run;
    if (begin) still(builds, 0);
  };
  addEventListener("pagehide", () => films(false));

  // --- three, two, one: on the session's clock, which the server's events bring
  const tick = () => {
    const evening = read(), ahead = Number(document.body.dataset.ahead);
    const left = evening.go_at ? Math.ceil(evening.go_at - performance.now() / 1000 - ahead) : 0;
    const shown = evening.phase === "ready" && left > 0 && left <= 10;
    count.hidden = !shown;
    if (shown && left !== counted) { count.textContent = left; sound("count", evening); }
    counted = shown ? left : 0;
  };
  setInterval(tick, 50);

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
  turn_all();
  setInterval(turn_all, 1000);
  addEventListener("resize", turn_all);
  document.addEventListener("part", turn_all);

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
    if (e.key.toLowerCase() !== "f" || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
    e.preventDefault();
    full();
  });
  document.addEventListener("visibilitychange", () => {
    films(false);
    if (!document.hidden) { wake(); follow(); }
  });
  document.addEventListener("part", (e) => { if (e.detail === "evening") follow(); });
  wake();
  if (document.readyState === "complete") follow();
  else addEventListener("load", () => setTimeout(follow), { once: true });
})();
