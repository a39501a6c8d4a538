// Live pages: parts of HTML come by server-sent events and replace the elements named data-part.
// The clock runs here between events. A line gone quiet says so until it is heard again.
(() => {
  const page = document.body.dataset.feed;
  if (!page) return;
  const QUIET_MS = 12000;
  const stale = document.getElementById("stale");
  const known = new Map();
  let heard = performance.now();

  const hear = () => { heard = performance.now(); stale.hidden = true; document.body.classList.remove("is-stale"); };
  const quiet = () => { stale.hidden = false; document.body.classList.add("is-stale"); };

  const place = (name, html) => {
    if (known.get(name) === html) return;
    const first = !known.has(name);
    known.set(name, html);
    for (const slot of document.querySelectorAll(`[data-part="${name}"]`)) {
      if (first && slot.dataset.fresh === "1" && slot.innerHTML.trim() === html) continue;
      const focused = slot.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      slot.innerHTML = html;
      if (focused) slot.querySelector(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
    }
    document.dispatchEvent(new CustomEvent("part", { detail: name }));
  };

  const source = new EventSource(`/events?page=${page}`);
  source.addEventListener("parts", (e) => {
    hear();
    for (const [name, html] of Object.entries(JSON.parse(e.data))) place(name, html);
  });
  source.addEventListener("beat", hear);
  source.addEventListener("error", () => { if (source.readyState !== EventSource.OPEN) quiet(); });
  addEventListener("pagehide", () => source.close());
  setInterval(() => { if (performance.now() - heard > QUIET_MS) quiet(); }, 1000);

  // <time data-clock data-elapsed="12.3"> counts on from what it says, from the moment it came.
  const begun = new WeakMap();
  const show = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}.${Math.floor(s * 10 % 10)}`;
  const tick = () => {
    for (const clock of document.querySelectorAll("[data-clock]")) {
      if (!begun.has(clock)) begun.set(clock, performance.now() - 1000 * Number(clock.dataset.elapsed));
      const text = show(Math.max(0, (performance.now() - begun.get(clock)) / 1000));
      if (clock.textContent !== text) clock.textContent = text;
    }
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})();
