// Runs inside the page, for page_test.py: returns what a person with weak eyes could not read.
const kLeast = 4.5; // WCAG AA for text of usual size

function parse(colour) {
  const parts = colour.match(/[\d.]+/g).map(Number);
  return { r: parts[0], g: parts[1], b: parts[2], a: parts.length > 3 ? parts[3] : 1 };
}

function over(top, under) {
  const mix = (a, b) => a * top.a + b * (1 - top.a);
  return { r: mix(top.r, under.r), g: mix(top.g, under.g), b: mix(top.b, under.b), a: 1 };
}

function luminance({ r, g, b }) {
  const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function background(element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.a > 0) layers.push(colour);
    if (colour.a === 1) break;
  }
  return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
}

function faded(element) {
  for (let at = element; at; at = at.parentElement) {
    if (Number(getComputedStyle(at).opacity) < 1) return true; // switched off, or about to go
  }
  return false;
}

const bad = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const element = node.parentElement;
  if (!node.data.trim() || !element.checkVisibility() || faded(element)) continue;
  if (parse(getComputedStyle(element).color).a === 0) continue; // only gives the field above it a mark
  const behind = background(element);
  const front = over(parse(getComputedStyle(element).color), behind);
  const [high, low] = [luminance(front), luminance(behind)].sort((a, b) => b - a);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < kLeast) bad.push(`${node.data.trim().slice(0, 40)} (${element.className}): ${ratio.toFixed(2)}`);
}
return bad;
