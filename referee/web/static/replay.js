// The last seconds around the press, slowly and for ever, while the verdict stands on the board.
(() => {
  const start = () => {
    for (const video of document.querySelectorAll("video[data-replay]:not([data-started])")) {
      video.dataset.started = "1";
      video.loop = true;
      video.defaultPlaybackRate = video.playbackRate = Number(video.dataset.rate || 0.35);
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) video.play().catch(() => {});
      else video.controls = true;
    }
  };
  document.addEventListener("part", start);
  start();
})();
