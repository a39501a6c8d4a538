// Light or dark: the system's wish, unless the visitor has chosen. Runs before the first paint.
(() => {
  const root = document.documentElement;
  root.classList.remove("no-js");
  const chosen = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  if (chosen) root.dataset.theme = chosen;
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* private window */ }
    });
  });
})();
