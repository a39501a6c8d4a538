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
