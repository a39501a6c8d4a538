// Any key, presenter or clicker as a player's Stop. The browser dates a key when it comes; the host ties this page's
// clock to its own by round trips, so that neither the network nor a busy page makes a press late.
(() => {
  const EVERY_MS = 2000, BURST = 4, POST_MS = 5000;
  const page = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const evening = () => JSON.parse(document.getElementById("evening")?.dataset.evening || "{}");
  const wanted = () => Object.keys(evening().keys || {}).length > 0 || Boolean(document.querySelector("[data-do=PressStop], [data-do=Go]"));
  const post = (what, body) => fetch(`/keys/${what}/${page}`, {
    method: "POST", credentials: "same-origin", body, headers: { Accept: "application/json" }, signal: AbortSignal.timeout(POST_MS),
  });

  let tying = false;
  const tie = async (times) => {
    if (tying || document.hidden || !wanted()) return;
    tying = true;
    try {
      let echo = NaN;
      for (let n = 0; n <= times; n++) {
        const answer = await post("clock", new Float64Array([performance.now(), echo]));
        if (!answer.ok) break;
        echo = (await answer.json()).host_s;
      }
    } catch { /* the next will do */ }
    tying = false;
  };
  tie(BURST);
  setInterval(tie, EVERY_MS, 1);
  document.addEventListener("part", () => tie(1));

  // Sent again where the line broke: a Stop must be heard. What the host refuses (no duel runs) it refuses for good.
  const stop = async (zone, at_ms) => {
    for (let n = 0; n < 4; n++) {
      const answer = await post("press", JSON.stringify({ zone, at_ms, sent_ms: performance.now() })).catch(() => null);
      if (answer) return answer.ok ? null : (await answer.json().catch(() => ({}))).error || String(answer.status);
      await new Promise((done) => setTimeout(done, 300));
    }
    return "…";
  };
  window.stopByKey = stop;

  // A field and a dialog keep the keys that people write with; all else is a Stop wherever the keyboard stands.
  const WRITING = /^(.|Enter|Tab|Escape|Backspace|Delete|Home|End|Arrow.*|Unidentified|Process)$/;
  const writes = (e) => Boolean(e.target.closest("input:not([type=checkbox], [type=range]), select, textarea, dialog")) && WRITING.test(e.key);
  document.addEventListener("keydown", (e) => {
    const zone = Object.entries(evening().keys || {}).find(([, key]) => key === (e.code || e.key))?.[0];
    if (!zone || writes(e)) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    if (!e.repeat) stop(zone, e.timeStamp);
  }, true);
})();
