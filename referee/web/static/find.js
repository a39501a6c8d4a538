// Find me: what bears the name that is typed is marked, and kept for the next visit of this browser.
(() => {
  const field = document.getElementById("find");
  document.getElementById("print")?.addEventListener("click", () => print());
  if (!field) return;
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const kept = { get: () => { try { return localStorage.getItem("me") || ""; } catch { return ""; } },
    set: (name) => { try { localStorage.setItem("me", name); } catch { /* private window */ } } };
  const mark = () => {
    const wanted = plain(field.value.trim());
    document.body.classList.toggle("finding", Boolean(wanted));
    for (const row of document.querySelectorAll("main tbody tr, main .call")) {
      const names = row.querySelector("[data-names]") || row;
      row.classList.toggle("me", Boolean(wanted) && plain(names.textContent).includes(wanted));
    }
  };
  field.parentElement.hidden = false;
  field.value = document.body.classList.contains("kiosk") ? "" : kept.get();
  field.addEventListener("input", () => { kept.set(field.value.trim()); mark(); });
  document.addEventListener("part", mark);
  mark();
})();
