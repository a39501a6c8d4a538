// The board in a room: sound and voice, the countdown, live builds.
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

  document.addEventListener("visibilitychange", () => {
    films(false);
    if (!document.hidden) follow();
  });
  document.addEventListener("part", (e) => { if (e.detail === "evening") follow(); });
  if (document.readyState === "complete") follow();
  else addEventListener("load", () => setTimeout(follow), { once: true });
})();
