// What a machine can find wrong with a page as it looks now: one line a fault. `given`: the least size of letters
// (px), and the texts of other languages that must not be seen.
(given) => {
  const faults = new Set();
  const say = (what, el, text) => faults.add(`${what}: ${el.closest("[class]")?.className || el.tagName} "${text.trim().slice(0, 50)}"`);
  if (document.documentElement.scrollWidth > innerWidth) faults.add(`scrolls sideways: ${document.documentElement.scrollWidth} px`);
  const fixed = (el) => el && el !== document.body && (getComputedStyle(el).position === "fixed" ? el : fixed(el.parentElement));
  const seen = [];
  const root = document.querySelector("dialog[open]") || document.body; // behind a dialog nothing can be pressed
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const el = node.parentElement, text = node.textContent;
    if (!text.trim() || ["SCRIPT", "STYLE"].includes(el.tagName) || !el.checkVisibility({ visibilityProperty: true })) continue;
    const ears = el.closest(".sr, .skip") || getComputedStyle(el).clipPath === "inset(50%)";
    if (ears) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((r) => r.width > 1 && r.height > 1);
    if (!rects.length) continue;
    const size = parseFloat(getComputedStyle(el).fontSize);
    if (size < given.least) say(`letters of ${size} px`, el, text);
    if (given.foreign.includes(text.trim()) && !el.closest("[lang]:not(html)")) say("another language", el, text);
    for (const r of rects) {
      if (r.left < -1 || r.right > innerWidth + 1) {
        let scrolls = el;
        while (scrolls && !["auto", "scroll"].includes(getComputedStyle(scrolls).overflowX)) scrolls = scrolls.parentElement;
        if (!scrolls) say("beyond the window", el, text);
      }
      for (let box = el; box && box !== document.documentElement; box = box.parentElement) {
        const style = getComputedStyle(box), b = box.getBoundingClientRect();
        if (style.display === "inline") continue;
        const cutX = ["hidden", "clip"].includes(style.overflowX), cutY = ["hidden", "clip"].includes(style.overflowY);
        const over = size * 0.18; // a line's box is higher than its letters
        if (cutX && (r.left < b.left - 1 || r.right > b.right + 1)) { say("cut off at its side", el, text); break; }
        if (cutY && (r.top < b.top - over || r.bottom > b.bottom + over)) { say("cut off", el, text); break; }
        if (box === el && !cutX && r.right > b.right + 2) { say("wider than its box", el, text); break; }
        if (["auto", "scroll"].includes(style.overflowY) || ["auto", "scroll"].includes(style.overflowX)) break;
      }
      if (!fixed(el)) seen.push([el, r, text]);
    }
  }
  for (const [i, [a, p, text]] of seen.entries()) for (const [b, q] of seen.slice(i + 1)) {
    if (a === b || a.contains(b) || b.contains(a)) continue;
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left), high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (wide > 2 && high > 0.35 * Math.min(p.height, q.height)) say("written over another", a, text);
  }
  if (innerWidth >= 1000) { // in a room nobody scrolls, and everybody looks at the pictures
    const schedule = document.querySelector(".schedule");
    if (schedule && schedule.scrollHeight > schedule.clientHeight + 2) faults.add("the schedule is cut off");
    for (const picture of document.querySelectorAll(".evidence :is(img, svg), .target.large img")) {
      const high = picture.getBoundingClientRect().height;
      if (high && high < 0.15 * innerHeight) faults.add(`a picture ${Math.round(high)} px high`);
    }
  }
  let words = root.innerText;
  for (const hash of root.querySelectorAll(".fingerprint")) // the seed's, to be compared letter by letter
    for (const digits of hash.innerText.match(/\b[0-9a-f]{64}\b/g) || []) words = words.replace(digits, "");
  for (const found of words.match(/\b(nats?|margin|undefined|null|NaN|None|True|False|Infinity)\b|\[object|\{\w*\}|\b[a-z]+_[a-z_]+\b|\b[a-z]{3,}\.[a-z]{3,}\b|\b[0-9a-f]{12,}\b|\bmatch-\d+/g) || [])
    faults.add(`no word for people: ${found}`);
  if (document.documentElement.lang === "de") {
    for (const found of words.match(/\b\d+\.\d+ (s|mm|px|cm)\b|\b\d+:\d\d\.\d+/g) || []) faults.add(`a decimal point in German: ${found}`);
  }
  return [...faults];
}
