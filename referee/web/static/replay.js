// The last seconds around the press in slow motion, in turn with the verdict's picture.
(() => {
  const RATE = 0.35, PICTURE_MS = 5000;

  const play = (video) => {
    const picture = video.parentElement.querySelector("[data-after-replay]");
    const begin = Number(video.dataset.begin), end = Number(video.dataset.end);
    const showVideo = (yes) => { video.hidden = Boolean(picture) && !yes; if (picture) picture.hidden = yes; };
    const run = () => {
      if (!video.isConnected) return;
      showVideo(true);
      video.currentTime = begin;
      video.playbackRate = RATE;
      video.play().catch(() => showVideo(false));
    };
    const watch = () => {
      if (!video.isConnected) return;
      if (!video.hidden && (video.currentTime >= end || video.ended)) {
        video.pause();
        showVideo(false);
        setTimeout(run, PICTURE_MS);
      }
      setTimeout(watch, 50);
    };
    video.addEventListener("error", () => {
      video.parentElement.querySelector("[data-no-replay]").hidden = false;
      showVideo(false);
      video.remove();
    });
    showVideo(false);
    setTimeout(run, PICTURE_MS);
    watch();
  };

  const start = () => {
    for (const video of document.querySelectorAll("video[data-replay]:not([data-started])")) {
      video.dataset.started = "1";
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
        video.controls = true;
        video.parentElement.querySelector("[data-after-replay]")?.remove();
      } else play(video);
    }
  };
  document.addEventListener("part", start);
  start();
})();
