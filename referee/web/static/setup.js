// The picture with the mats found, fresh every second while somebody looks.
(() => {
  const still = document.querySelector("img[data-still]");
  const again = () => setTimeout(() => {
    if (document.hidden) again();
    else still.src = `${still.dataset.still}?${Date.now()}`;
  }, 1000);
  still.addEventListener("load", again);
  still.addEventListener("error", again);
  again();
})();
