// The practice page's buttons and keys: give up, another card, stop. Who may not run the table gets no buttons.
(() => {
  const toast = document.getElementById("toast");
  const show = () => document.querySelectorAll("[data-steps]").forEach((steps) => { steps.hidden = false; });
  const say = (text) => { toast.textContent = text; toast.hidden = !text; setTimeout(() => { toast.hidden = true; }, 6000); };

  const send = async (what) => {
    const answer = await fetch(`/practice/${what}`, {
      method: "POST", credentials: "same-origin", headers: { "Accept": "application/json" },
    }).catch(() => null);
    if (answer && !answer.ok) say((await answer.json().catch(() => ({}))).error || String(answer.status));
    if (answer && answer.ok && what === "end") location.reload();
  };

  document.addEventListener("click", (e) => {
    const button = e.target.closest("[data-practice]");
    if (button) send(button.dataset.practice);
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || e.target.closest("input, select, textarea")) return;
    const key = e.key.toUpperCase();
    const button = [...document.querySelectorAll("[data-practice]")].find((b) => b.getAttribute("aria-keyshortcuts") === key);
    if (button) { e.preventDefault(); send(button.dataset.practice); }
  });
  const practising = () => Boolean(document.querySelector("[data-steps]"));
  let before = practising();
  document.addEventListener("part", (e) => {
    if (e.detail !== "players") return;
    show();
    if (practising() && !before) document.querySelector(".begin").open = false; // who practises is settled
    before = practising();
  });
  show();
})();
