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
    document.body.dataset.ahead = ahead_s;
    stale.hidden = true;
    document.body.classList.remove("is-stale");
    if (broken) document.dispatchEvent(new Event("again"));
    broken = false;
  };
  const quiet = () => { stale.hidden = false; document.body.classList.add("is-stale"); };

  // What is drawn again keeps the keyboard's place, and what was unfolded. A thing without a key of its own is found
  // by what it says and does: nothing else must come under a finger that is about to press.
  const draw = (slot, html) => {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    if (slot.innerHTML === fresh.innerHTML) return; // as the server sent it with the page
    const focused = slot.contains(document.activeElement) ? document.activeElement : null;
    const what = (el) => el.dataset.key || [el.tagName, el.name, el.textContent, ...Object.values(el.dataset)].join();
    const unfolded = [...slot.querySelectorAll("details[open] > summary")].map((el) => el.textContent);
    slot.replaceChildren(fresh.content);
    for (const el of slot.querySelectorAll("details > summary")) el.parentElement.open ||= unfolded.includes(el.textContent);
    if (focused) [...slot.querySelectorAll("*")].find((el) => what(el) === what(focused))?.focus({ preventScroll: true });
  };

  const place = (name, html) => {
    if (known.get(name) === html) return;
    known.set(name, html);
    for (const slot of document.querySelectorAll(`[data-part="${name}"]`)) draw(slot, html);
    document.dispatchEvent(new CustomEvent("part", { detail: name }));
  };

  // A browser tries a broken line again by itself, but not one that was refused: then every place is taken (or
  // the server is gone), and the page asks for its parts each second; now and then it tries for a line again.
  const POLL_MS = 1000, POLLS = 30;
  let source = null, polling = 0, tag = "";
  const poll = async (left) => {
    const headers = tag ? { "If-None-Match": tag } : {};
    const answer = await fetch(`/snapshot?page=${page}`, { cache: "no-store", headers }).catch(() => null);
    if (answer && (answer.ok || answer.status === 304)) {
      hear(Number(answer.headers.get("X-Session-Now")));
      if (answer.ok) {
        tag = answer.headers.get("ETag") || "";
        for (const [name, html] of Object.entries((await answer.json()).parts)) place(name, html);
      }
      polling = left > 0 ? setTimeout(poll, POLL_MS, left - 1) : setTimeout(connect, POLL_MS);
    } else { quiet(); broken = true; polling = setTimeout(connect, AGAIN_MS); }
  };
  const connect = () => {
    clearTimeout(polling);
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
      if (source.readyState === EventSource.CLOSED) { polling = setTimeout(poll, POLL_MS, POLLS); return; }
      quiet();
      broken = true;
    });
  };
  connect();

  // A browser opens few lines to one host: pages that nobody looks at give theirs back.
  let leaving = 0;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(leaving);
    if (document.hidden) leaving = setTimeout(() => { clearTimeout(polling); source.close(); source = null; }, HIDDEN_MS);
    else if (!source) connect();
  });
  addEventListener("pagehide", () => source?.close());
  setInterval(() => { if (performance.now() - heard > QUIET_MS) quiet(); }, 1000);

  const POINT = document.documentElement.lang === "de" ? "," : ".";
  const show = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}${POINT}${Math.floor(s * 10 % 10)}`;
  const tick = () => {
    for (const clock of document.querySelectorAll("[data-clock]")) {
      if (ahead_s === null) continue;
      const text = show(Math.max(0, performance.now() / 1000 + ahead_s - Number(clock.dataset.go)));
      if (clock.textContent !== text) clock.textContent = text;
    }
    for (const bar of document.querySelectorAll("progress[data-go]")) {
      if (ahead_s !== null) bar.value = performance.now() / 1000 + ahead_s - Number(bar.dataset.go);
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
  // A film never ends: begun earlier, it would keep the page from having loaded.
  if (document.readyState === "complete") run();
  else addEventListener("load", () => setTimeout(run), { once: true });
})();
