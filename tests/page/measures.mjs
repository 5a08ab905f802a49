// The measures of a page, as one function that runs inside the page.

export const measures = () => {
  const smallest = 11;
  const found = { small: [], cut: [], overlaps: [], scrolls: [] };
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const said = (element) => element.textContent.trim().slice(0, 40);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || seen.has(element) || !isShown(element) || element.closest(".visually-hidden, title, script, style")) continue;
    seen.add(element);
    const box = element.getBoundingClientRect();
    if (box.width < 1 || box.height < 1 || box.bottom < 0 || box.top > innerHeight) continue;
    const scale = element instanceof SVGElement ? element.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    // Text of size 0 is hidden: an icon replaces it.
    if (size > 0 && size < smallest - 0.01) found.small.push(`${said(element)} (${size.toFixed(1)} px)`);
    const style = getComputedStyle(element);
    const isCut = element.scrollWidth > element.clientWidth + 1 && ["hidden", "clip"].includes(style.overflowX) && style.display !== "inline";
    if (isCut && style.textOverflow !== "ellipsis") found.cut.push(said(element));
  }
  const labels = [...document.querySelectorAll(".graph .box-title, .graph .box-caption, .graph .share")].filter(isShown);
  const boxes = labels.map((label) => [label, label.getBoundingClientRect()]).filter(([, box]) => box.width > 0 && box.top < innerHeight && box.bottom > 0);
  for (let at = 0; at < boxes.length && at < 400; at += 1) {
    for (const [label, other] of boxes.slice(at + 1, 400)) {
      const box = boxes[at][1];
      const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (wide > 2 && high > 3) found.overlaps.push(`${said(boxes[at][0])} and ${said(label)}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) found.scrolls.push(`${document.documentElement.scrollWidth} > ${innerWidth}`);
  return found;
};
