// The phone's browser is the camera: pictures as H.264 (or JPEG) by POST, with the time at which each was captured.
"use strict";
(() => {
  const JPEG = 0, H264 = 1, KEY = 1, CAPTURED = 2, HEAD = 32;
  const WANTED = { facingMode: { ideal: "environment" }, width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
  const CODECS = ["avc1.640028", "avc1.42E01F"], BITRATE = 6e6, KEY_EVERY_MS = 2000;
  const QUEUED = 3, POST_MS = 1000, PAUSE_MS = 100, CLOCK_MS = 500, SETTLE_MS = 1500, OLD_MS = 1000, BOUND_MS = 50, MOST_FAILURES = 3, MOST_STRAYS = 10, SAME_S = 0.001;
  const LOCKS = { exposure: ["exposureMode", "exposureTime", "iso"], focus: ["focusMode", "focusDistance"], white: ["whiteBalanceMode", "colorTemperature"] };
  const STATES = ["gone", "taken", "denied", "ended", "muted", "hidden", "cut", "turned", "late", "live"]; // the first that is true is said

  const by = (id) => document.getElementById(id), video = by("video");
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const is = { live: false };
  let track, lock, run, seq, fresh, busy, lastKey, encoder, failures = 0, strays = 0, clocking = false;
  let queue = [], sent = [];

  const show = () => {
    const said = STATES.find((state) => is[state]);
    for (const line of document.querySelectorAll("[data-state]")) line.hidden = line.dataset.state !== said;
    document.title = said && said !== "live" ? `⚠ ${document.querySelector(`[data-state=${said}]`).textContent}` : by("title").textContent;
  };
  const set = (state, on) => {
    if (Boolean(is[state]) === on) return;
    is[state] = on;
    if (on && state !== "live") navigator.vibrate?.([300, 150, 300]);
    show();
  };
  const post = (path, body) => fetch(path, { method: "POST", body, signal: AbortSignal.timeout(POST_MS) });

  // --- the clocks: the host's time goes out, comes back with ours, and is held against the host's again ---
  async function trip(echo) {
    const answer = await (await post("clock", new Float64Array([performance.now(), echo]))).json();
    if (answer.bound_s) {
      const bound = 1000 * answer.bound_s;
      by("bound").textContent = bound.toFixed(0);
      set("late", bound > BOUND_MS);
    }
    return answer.host_s;
  }
  async function tieClocks(times) {
    if (clocking) return;
    clocking = true;
    try {
      let echo = await trip(NaN);
      for (let n = 0; n < times; n++) echo = await trip(echo);
    } catch { /* the next will do */ }
    clocking = false;
  }

  // --- the pictures: one POST in flight, what waits goes together ---
  function record(kind, flags, number, captured, payload) {
    const body = new ArrayBuffer(HEAD + payload.byteLength), head = new DataView(body);
    head.setUint8(0, kind); head.setUint8(1, flags); head.setUint16(2, run, true); head.setUint32(4, seq++, true);
    head.setUint32(8, payload.byteLength, true); head.setUint32(12, number, true);
    head.setFloat64(16, captured, true); head.setFloat64(24, performance.now(), true);
    new Uint8Array(body, HEAD).set(new Uint8Array(payload));
    queue.push(body);
    if (!busy) flush();
  }
  async function flush() {
    busy = true;
    while (queue.length && is.live) {
      const bodies = queue.splice(0);
      try {
        const answer = await post("records", new Blob(bodies));
        if (answer.status === 403 || answer.status === 404) return end("gone");
        if (!answer.ok) throw answer;
        set("cut", false);
        const now = performance.now();
        for (const body of bodies) sent.push([now, body.byteLength]);
      } catch {
        fresh = true;
        queue = [];
        set("cut", true);
        await wait(PAUSE_MS);
      }
    }
    busy = false;
  }

  // --- from the <video> to records ---
  async function makeEncoder(width, height) {
    if (!("VideoEncoder" in window)) return null;
    for (const codec of CODECS) {
      const config = { codec, width, height, bitrate: BITRATE, framerate: 30, latencyMode: "realtime", avc: { format: "annexb" } };
      try {
        if (!(await VideoEncoder.isConfigSupported(config)).supported) continue;
      } catch { continue; }
      const pictures = new Map();
      const made = new VideoEncoder({
        error: () => { fresh = true; encoder = ++failures < MOST_FAILURES ? undefined : null; },
        output: (chunk) => {
          const payload = new ArrayBuffer(chunk.byteLength);
          chunk.copyTo(payload);
          const { number, captured, flags } = pictures.get(chunk.timestamp);
          pictures.delete(chunk.timestamp);
          if (made === encoder?.made) record(H264, flags | (chunk.type === "key" ? KEY : 0), number, captured, payload);
        },
      });
      made.configure(config);
      return { made, width, height, pictures };
    }
    return null;
  }
  function encode(picture, frame) {
    const { made, pictures } = encoder, now = performance.now();
    if (made.encodeQueueSize > 2) return;
    const keyFrame = fresh || now - lastKey > KEY_EVERY_MS;
    if (keyFrame) [fresh, lastKey] = [false, now];
    pictures.set(frame.timestamp, picture);
    made.encode(frame, { keyFrame });
  }
  const canvas = document.createElement("canvas");
  async function compress({ number, captured, flags }) {
    canvas.width = video.videoWidth; canvas.height = video.videoHeight;
    canvas.getContext("2d", { alpha: false }).drawImage(video, 0, 0);
    const file = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.9));
    record(JPEG, flags | KEY, number, captured, await file.arrayBuffer());
  }
  async function picture(now, meta) {
    video.requestVideoFrameCallback(picture);
    if (!is.live || is.hidden || queue.length >= QUEUED || picture.busy) return; // left out before the encoder
    picture.busy = true;
    try {
      const [width, height] = [video.videoWidth, video.videoHeight], at = performance.now();
      set("turned", height > width);
      if (encoder === undefined || (encoder && (encoder.width !== width || encoder.height !== height))) {
        encoder = await makeEncoder(width, height);
        fresh = true;
        return;
      }
      // The <video> may show the next picture already; then the time is not of what would be sent.
      const frame = "VideoFrame" in window ? new VideoFrame(video) : null;
      const same = frame !== null && Math.abs(frame.timestamp / 1e6 - meta.mediaTime) < SAME_S;
      strays = same ? 0 : strays + 1;
      const stamped = same && meta.captureTime <= at && meta.captureTime > at - OLD_MS;
      const one = { number: meta.presentedFrames, captured: stamped ? meta.captureTime : Math.min(now, at), flags: stamped ? CAPTURED : 0 };
      if (same || strays > MOST_STRAYS) await (encoder ? encode(one, frame) : compress(one));
      frame?.close();
    } finally { picture.busy = false; }
  }

  // --- the camera itself ---
  async function holdStill() {
    const can = track.getCapabilities?.() ?? {};
    const all = (mode) => Promise.allSettled(Object.values(LOCKS).map(([name]) =>
      can[name]?.includes(mode) && track.applyConstraints({ advanced: [{ [name]: mode }] })));
    await all("continuous");
    await wait(SETTLE_MS);
    for (const [what, [name, ...values]] of Object.entries(LOCKS)) {
      let said = "cannot";
      if (can[name]?.includes("manual")) {
        const now = track.getSettings(), fixed = Object.fromEntries(values.filter((v) => now[v] !== undefined).map((v) => [v, now[v]]));
        await track.applyConstraints({ advanced: [{ [name]: "manual", ...fixed }] }).catch(() => {});
        said = track.getSettings()[name] === "manual" ? "locked" : "open";
      }
      by(what).textContent = by("words").dataset[said];
    }
  }
  async function stayAwake() {
    try {
      lock = await navigator.wakeLock.request("screen");
      lock.onrelease = () => { by("awake").textContent = by("words").dataset.open; };
      by("awake").textContent = by("words").dataset.yes;
    } catch { by("awake").textContent = by("words").dataset.cannot; }
  }
  async function openCamera() {
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: false, video: WANTED });
      track = stream.getVideoTracks()[0];
      video.srcObject = stream;
      await video.play();
    } catch { return end("denied"); }
    track.onmute = () => set("muted", true);
    track.onunmute = () => set("muted", false);
    track.onended = () => end("ended");
    set("ended", false);
    return true;
  }
  function end(why) {
    track?.stop();
    lock?.release();
    set("live", false);
    set(why, true);
    by("start").hidden = why === "gone" || why === "taken";
    by("working").hidden = true;
  }
  async function begin() { // a run: counts and clocks start anew
    set("live", false);
    const answer = await post("begin").catch(() => null);
    if (!answer) { await wait(PAUSE_MS); return begin(); }
    if (!answer.ok) return end(answer.status === 409 ? "taken" : "gone");
    run = (await answer.json()).run;
    [seq, fresh, queue, lastKey] = [0, true, [], 0];
    if (encoder && encoder.made.state !== "closed") encoder.made.close();
    if (failures < MOST_FAILURES) encoder = undefined;
    await tieClocks(8);
    set("live", true);
    return true;
  }
  function figures() {
    const now = performance.now();
    sent = sent.filter(([at]) => at > now - 2000);
    by("size").textContent = `${video.videoWidth} × ${video.videoHeight}`;
    by("rate").textContent = (sent.length / 2).toFixed(0);
    by("form").textContent = encoder ? "H.264" : "JPEG";
    by("mbit").textContent = (sent.reduce((sum, [, bytes]) => sum + bytes, 0) * 4e-6).toFixed(1);
  }

  by("start").addEventListener("click", async () => {
    by("start").hidden = true;
    for (const state of ["denied", "ended"]) set(state, false);
    if (!(await openCamera()) || !(await begin())) return;
    by("working").hidden = false;
    stayAwake();
    holdStill();
  });
  video.requestVideoFrameCallback(picture); // goes on by itself, whichever stream is shown
  by("again").addEventListener("click", holdStill);
  document.addEventListener("visibilitychange", async () => {
    if (track?.readyState !== "live") return;
    set("hidden", document.hidden);
    if (document.hidden) return;
    stayAwake();
    if (await begin()) video.play();
  });
  setInterval(() => { if (is.live && !is.hidden) { tieClocks(2); figures(); } }, CLOCK_MS);
  show();
})();
