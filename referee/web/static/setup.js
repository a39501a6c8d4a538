// Pictures that are fresh while somebody looks: the one with the mats found, and each camera's in the list.
(() => {
  for (const still of document.querySelectorAll("img[data-still]")) {
    const next = `${still.dataset.still}${still.dataset.still.includes("?") ? "&" : "?"}t=`;
    const again = () => setTimeout(() => {
      if (document.hidden || !still.checkVisibility()) again();
      else still.src = next + Date.now();
    }, Number(still.dataset.every || 1000));
    still.addEventListener("load", again);
    still.addEventListener("error", again);
    again();
  }
})();

// The keys that are Stops: chosen by pressing them, and tried by pressing them again.
(() => {
  const card = document.getElementById("keys"), told = card.querySelector(".told");
  let keys = JSON.parse(card.dataset.keys), choosing = null, lit = 0;
  const show = (text = "") => {
    told.textContent = text;
    for (const key of card.querySelectorAll("[data-key-of]")) key.textContent = keys[key.dataset.keyOf] || card.dataset.none;
    for (const button of card.querySelectorAll("[data-choose]"))
      button.setAttribute("aria-pressed", String(button.dataset.choose === choosing));
  };
  const keep = async (wanted) => { // shown at once: the next choice may begin before this one is answered
    const before = keys;
    keys = wanted;
    choosing = null;
    show();
    const answer = await fetch("/evening", {
      method: "POST", credentials: "same-origin", body: JSON.stringify({ keys: wanted }),
      headers: { "Content-Type": "application/json", "Accept": "application/json" },
    }).catch(() => null);
    if (answer?.ok) return;
    keys = before;
    show((await answer?.json().catch(() => ({})))?.error || "…");
  };
  const without = (zone) => Object.fromEntries(Object.entries(keys).filter(([z]) => z !== zone));
  card.addEventListener("click", (e) => {
    const { choose, drop } = e.target.closest("button")?.dataset || {};
    if (drop) keep(without(drop));
    if (!choose) return;
    choosing = choosing === choose ? null : choose;
    show(choosing ? e.target.closest("button").dataset.press : "");
  });
  document.addEventListener("keydown", (e) => {
    const key = e.code || e.key;
    const zone = Object.keys(keys).find((z) => keys[z] === key);
    if (choosing) {
      e.preventDefault();
      if (zone && zone !== choosing) show(card.dataset.twice);
      else keep({ ...without(choosing), [choosing]: key });
    } else if (zone && !e.repeat && !e.target.closest("input, select, textarea")) {
      e.preventDefault();
      const row = card.querySelector(`[data-row=${zone}]`);
      row.classList.add("heard");
      clearTimeout(lit);
      lit = setTimeout(() => row.classList.remove("heard"), 800);
    }
  }, true);
})();

// A mat whose markers are not read: its sheet's corners are dragged, or moved by the arrow keys.
(() => {
  const over = document.getElementById("corners");
  const handles = [...over.querySelectorAll("button")], outline = over.querySelector("polygon"), near = over.querySelector("polyline"), lens = over.querySelector("canvas");
  const START = { A: [[.08, .5], [.42, .5], [.45, .85], [.05, .85]], B: [[.58, .5], [.92, .5], [.95, .85], [.55, .85]] };
  const SLOW_PX = 4, SLOW = .4, STEP_PX = 1, LONG_PX = 10, LENS_PX = 30; // of the screen, then of the picture
  let form = null, corners = [], picture = document.getElementById("mats-picture");

  const size = () => [picture.naturalWidth || 1280, picture.naturalHeight || 720];
  const fit = () => { // the picture may be less wide or less high than its frame
    const [width, height] = size(), frame = picture.getBoundingClientRect();
    const scale = Math.min(frame.width / width, frame.height / height);
    Object.assign(over.style, { width: `${scale * width}px`, height: `${scale * height}px`,
      left: `${(frame.width - scale * width) / 2}px`, top: `${(frame.height - scale * height) / 2}px` });
  };
  const show = () => {
    outline.setAttribute("points", corners.map((c) => c.join(",")).join(" "));
    near.setAttribute("points", corners.slice(2).map((c) => c.join(",")).join(" "));
    handles.forEach((handle, n) => Object.assign(handle.style, { left: `${100 * corners[n][0]}%`, top: `${100 * corners[n][1]}%` }));
    form.elements.corners.value = corners.map((c) => c.map((v) => v.toFixed(4)).join(",")).join(" ");
  };
  const magnify = (n) => { // what lies under the corner, beside it
    const [width, height] = size(), [x, y] = corners[n], pen = lens.getContext("2d"), half = lens.width / 2;
    lens.hidden = false;
    lens.style.left = `${x < .5 ? 75 : 5}%`;
    pen.fillRect(0, 0, lens.width, lens.width);
    pen.drawImage(picture, x * width - LENS_PX / 2, y * height - LENS_PX / 2, LENS_PX, LENS_PX, 0, 0, lens.width, lens.width);
    pen.strokeStyle = "#f0f";
    pen.strokeRect(half, 0, 0, lens.width);
    pen.strokeRect(0, half, lens.width, 0);
  };
  const move = (n, dx, dy) => {
    corners[n] = [corners[n][0] + dx, corners[n][1] + dy].map((v) => Math.min(1, Math.max(0, v)));
    show();
    magnify(n);
    const [width, height] = size();
    form.querySelector("output").value = `${handles[n].getAttribute("aria-label")}: ${Math.round(corners[n][0] * width)}, ${Math.round(corners[n][1] * height)}`;
  };
  handles.forEach((handle, n) => {
    let last = null;
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      last = [event.clientX, event.clientY];
      magnify(n);
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const dx = event.clientX - last[0], dy = event.clientY - last[1], pace = Math.hypot(dx, dy) < SLOW_PX ? SLOW : 1;
      last = [event.clientX, event.clientY];
      move(n, pace * dx / over.clientWidth, pace * dy / over.clientHeight);
    });
    handle.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!way) return;
      event.preventDefault();
      const [width, height] = size(), step = event.shiftKey ? LONG_PX : STEP_PX;
      move(n, step * way[0] / width, step * way[1] / height);
    });
    handle.addEventListener("blur", () => { lens.hidden = true; });
  });
  for (const one of document.querySelectorAll("form.place")) {
    const begin = one.querySelector(".begin"), keep = one.querySelector(".keep"), told = one.dataset.corners, key = `corners ${one.id}`;
    begin.addEventListener("click", () => {
      const set = sessionStorage.getItem(key) || told; // what was refused can be mended
      form = one;
      picture = document.getElementById(one.dataset.picture);
      picture.after(over);
      corners = set ? set.split(" ").map((c) => c.split(",").map(Number)) : START[one.elements.zone.value].map((c) => [...c]);
      over.hidden = keep.hidden = one.querySelector("output").hidden = false;
      fit();
      show();
      picture.scrollIntoView({ block: "nearest" });
      handles[0].focus();
    });
    keep.addEventListener("click", () => { sessionStorage.setItem(key, one.elements.corners.value); });
    one.querySelector(".away")?.addEventListener("click", () => { one.elements.corners.value = ""; sessionStorage.removeItem(key); });
  }
  addEventListener("resize", () => { if (!over.hidden) fit(); });
  for (const shown of document.querySelectorAll("[id^=mats-picture]"))
    shown.addEventListener("load", () => { if (!over.hidden) fit(); });
})();
