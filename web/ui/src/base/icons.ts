// Line icons on a 16 x 16 grid, drawn as SVG paths.
const kPaths = {
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
  eyeOff: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM3 13L13 3",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.8V8l2.2 1.6",
  refresh: "M13.2 6.2A5.5 5.5 0 1 0 13.5 9M13.5 2.8v3.6H9.9",
  left: "M10 3.5L5.5 8l4.5 4.5",
  right: "M6 3.5L10.5 8 6 12.5",
  zoomOut: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3L14 14M5 7h4",
  down: "M4 6l4 4 4-4",
  share: "M6.5 9.5l4-4M7 4.5l1.2-1.2a3 3 0 0 1 4.3 4.3L11.3 8.8M9 11.5l-1.2 1.2a3 3 0 0 1-4.3-4.3L4.7 7.2",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13 9.8A5.6 5.6 0 0 1 6.2 3a5.5 5.5 0 1 0 6.8 6.8z",
  auto: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  warn: "M8 2.2l6.3 11.3H1.7zM8 6.5v3.4M8 11.6v.3",
  sliders: "M2 5h6M12 5h2M2 11h2M8 11h6M8 3.4h4v3.2H8zM4 9.4h4v3.2H4z",
  download: "M8 2.5v7M5 7l3 3 3-3M3 13h10",
  stop: "M4.5 4.5h7v7h-7z",
} as const;

export type IconName = keyof typeof kPaths;

const kSvg = "http://www.w3.org/2000/svg";

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(kSvg, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(kSvg, "path");
  path.setAttribute("d", kPaths[name]);
  svg.append(path);
  return svg;
}

// The mark: a crystal of rock salt.
export function logo(): SVGSVGElement {
  const svg = document.createElementNS(kSvg, "svg");
  svg.setAttribute("viewBox", "0 0 32 32");
  svg.setAttribute("class", "logo");
  svg.setAttribute("aria-hidden", "true");
  const faces: [string, string][] = [
    ["top", "M16 2 29 9 16 16 3 9z"],
    ["left", "M3 9l13 7v14L3 23z"],
    ["right", "M29 9 16 16v14l13-7z"],
  ];
  for (const [face, d] of faces) {
    const path = document.createElementNS(kSvg, "path");
    path.setAttribute("class", `logo-${face}`);
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}
