// Live pages: parts of HTML come by server-sent events and replace the elements named data-part.
// Clocks run here between events, on the session's time. A line gone quiet says so.
(() => {
  const page = document.body.dataset.feed;
  if (!page) return;
  const QUIET_MS = 12000, AGAIN_MS = 2000, HIDDEN_MS = 30000;
  const stale = document.getElementById("stale");
  const known = new Map();
  let heard = performance.now();
  let ahead_s = null; // the session's clock minus this page's
  let broken = false;

  const hear = (now_s) => {
    heard = performance.now();
    ahead_s = now_s - heard / 1000;
    stale.hidden = true;
    document.body.classList.remove("is-stale");
    if (broken) document.dispatchEvent(new Event("again"));
    broken = false;
  };
  const quiet = () => { stale.hidden = false; document.body.classList.add("is-stale"); };

  const place = (name, html) => {
    if (known.get(name) === html) return;
    known.set(name, html);
    for (const slot of document.querySelectorAll(`[data-part="${name}"]`)) {
      if (slot.innerHTML === html) continue;
      const key = slot.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      slot.innerHTML = html;
      if (key) slot.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
    }
    document.dispatchEvent(new CustomEvent("part", { detail: name }));
  };

  // A browser tries a broken line again by itself, but not one that was refused: we do.
  let source = null;
  const connect = () => {
    source?.close();
    source = new EventSource(`/events?page=${page}`);
    source.addEventListener("parts", (e) => {
      const { now, parts } = JSON.parse(e.data);
      hear(now);
      for (const [name, html] of Object.entries(parts)) place(name, html);
      document.body.dataset.serial = e.lastEventId;
    });
    source.addEventListener("beat", (e) => hear(JSON.parse(e.data).now));
    source.addEventListener("error", () => {
      quiet();
      broken = true;
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, AGAIN_MS);
    });
  };
  connect();

  // A browser opens few lines to one host: pages that nobody looks at give theirs back.
  let leaving = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(leaving);
    if (document.hidden) leaving = setTimeout(() => { source.close(); source = null; }, HIDDEN_MS);
    else if (!source) connect();
  });
  addEventListener("pagehide", () => source?.close());
  setInterval(() => { if (performance.now() - heard > QUIET_MS) quiet(); }, 1000);

  const show = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}.${Math.floor(s * 10 % 10)}`;
  const tick = () => {
    for (const clock of document.querySelectorAll("[data-clock]")) {
      if (ahead_s === null) continue;
      const text = show(Math.max(0, performance.now() / 1000 + ahead_s - Number(clock.dataset.go)));
      if (clock.textContent !== text) clock.textContent = text;
    }
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})();

// Films run only while somebody looks: a browser opens few connections to one host.
(() => {
  const films = document.querySelectorAll("img[data-film]");
  const run = () => {
    for (const film of films) {
      if (document.hidden) film.removeAttribute("src");
      else film.src = `${film.dataset.film}?${Date.now()}`;
    }
  };
  document.addEventListener("visibilitychange", run);
  document.addEventListener("again", run); // a film that broke off does not begin again by itself
  addEventListener("pagehide", () => films.forEach((film) => film.removeAttribute("src")));
  run();
})();
