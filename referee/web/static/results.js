// The page on paper: the browser prints it, without its menus (results.css).
document.getElementById("print")?.addEventListener("click", () => window.print());
