// A small line of values over time, without axes.
const kSvg = "http://www.w3.org/2000/svg";
const kWidth = 320;
const kHeight = 56;
const kDotsMax = 12; // as many points or fewer are dots too: a lone one makes no line

export type SparkPoint = [number, number]; // ms since 1970, value

function element(name: string, attributes: Record<string, string>): SVGElement {
  const one = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  return one;
}

// Zero is always on it; `label` is what is read out.
export function spark(points: SparkPoint[], label: string): SVGElement {
  const svg = element("svg", {
    viewBox: `0 0 ${kWidth} ${kHeight}`,
    preserveAspectRatio: "none",
    class: "spark",
    role: "img",
    "aria-label": label,
  });
  if (points.length === 0) return svg;
  const alone = points[0][0] === points[points.length - 1][0];
  const span = alone ? 2 : points[points.length - 1][0] - points[0][0];
  const first = alone ? points[0][0] - 1 : points[0][0]; // a lone one stands in the middle
  const most = points.reduce((max, [, value]) => Math.max(max, value), 0);
  const least = points.reduce((min, [, value]) => Math.min(min, value), 0);
  const height = most - least || 1;
  const place = ([time, value]: SparkPoint): string =>
    `${((kWidth * (time - first)) / span).toFixed(1)} ${(kHeight - 2 - ((kHeight - 6) * (value - least)) / height).toFixed(1)}`;
  const line = `M${points.map(place).join("L")}`;
  if (!alone) {
    svg.append(
      element("path", { class: "spark-area", d: `${line}L${kWidth} ${kHeight}L0 ${kHeight}Z` }),
      element("path", { class: "spark-line", d: line, "vector-effect": "non-scaling-stroke" }),
    );
  }
  if (points.length <= kDotsMax) {
    // Lines without a length, whose round ends make a dot: a circle would be stretched with the picture.
    const dots = points.map((point) => `M${place(point)}h0`).join("");
    svg.append(element("path", { class: "spark-dots", d: dots, "vector-effect": "non-scaling-stroke" }));
  }
  return svg;
}
