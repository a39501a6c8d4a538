// Pictures that are fresh while somebody looks: the one with the mats found, and each camera's in the list.
(() => {
  for (const still of document.querySelectorAll("img[data-still]")) {
    const next = `${still.dataset.still}${still.dataset.still.includes("?") ? "&" : "?"}t=`;
    const again = () => setTimeout(() => {
      if (document.hidden) again();
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
  const keep = async (wanted) => {
    const answer = await fetch("/evening", {
      method: "POST", credentials: "same-origin", body: JSON.stringify({ keys: wanted }),
      headers: { "Content-Type": "application/json", "Accept": "application/json" },
    }).catch(() => null);
    const fault = answer?.ok ? "" : (await answer?.json().catch(() => ({})))?.error || "…";
    if (!fault) keys = wanted;
    choosing = null;
    show(fault);
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
