// A cycle of slots as a ring with now on top: to the left what is stored, to the right the slots that come
// next, which are empty by then or the cycle is too small.
import { h } from "../base/dom";
import { count } from "../base/format";
import type { Cycle, Slot } from "../server/status";

const kSvg = "http://www.w3.org/2000/svg";
const kMiddle = 60;
const kRadius = 46;
const kLeastTurn = 0.01; // of the ring: thinner would not be seen

function element(name: string, attributes: Record<string, string>): SVGElement {
  const one = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  return one;
}

// A part of the ring from a to b, in turns from the top, clockwise.
function arc(a: number, b: number, className: string): SVGElement {
  const at = (turn: number): string => {
    const angle = 2 * Math.PI * turn - Math.PI / 2;
    return `${(kMiddle + kRadius * Math.cos(angle)).toFixed(2)} ${(kMiddle + kRadius * Math.sin(angle)).toFixed(2)}`;
  };
  const end = Math.min(b, a + 0.9999);
  const large = end - a > 0.5 ? 1 : 0;
  return element("path", { class: className, d: `M${at(a)}A${kRadius} ${kRadius} 0 ${large} 1 ${at(end)}` });
}

// Where a slot begins, in turns from now: the newest ones end at the top.
function runs(slots: Slot[], { ringSlots, spanMs }: Cycle, now: number): { from: number; to: number; sealed: boolean }[] {
  const newest = Math.floor(now / spanMs);
  const found: { from: number; to: number; sealed: boolean }[] = [];
  for (const { begin, sealed } of slots) {
    const from = Math.round(begin / spanMs) - newest - 1;
    const last = found[found.length - 1];
    if (last && last.to === from && last.sealed === sealed) last.to = from + 1;
    else found.push({ from, to: from + 1, sealed });
  }
  return found.map(({ from, to, sealed }) => ({ from: from / ringSlots, to: to / ringSlots, sealed }));
}

export function ring(cycle: Cycle, now: number): HTMLElement {
  const { ringSlots, slots, ttlMs, spanMs } = cycle;
  const text = `${slots.length} of ${count(ringSlots, "slot")} of the cycle in use`;
  const svg = element("svg", { viewBox: "0 0 120 120", class: "ring", role: "img", "aria-label": text });
  svg.append(element("circle", { class: "ring-track", cx: String(kMiddle), cy: String(kMiddle), r: String(kRadius) }));
  const kept = Math.min(1, Math.ceil(ttlMs / spanMs) / ringSlots);
  if (kept > 0) svg.append(arc(-kept, 0, "ring-kept"));
  for (const { from, to, sealed } of runs(slots, cycle, now)) {
    svg.append(arc(Math.min(from, to - kLeastTurn), to, sealed ? "ring-sealed" : "ring-open"));
  }
  svg.append(element("path", { class: "ring-now", d: "M60 24l-5 9h10z" }));
  return h(
    "figure",
    { class: "ring-figure", title: "The cycle of slots. The current time is at the top; used slots are to its left, future slots to its right" },
    svg,
    h("figcaption", {}, h("b", { text: `${slots.length} of ${ringSlots}` }), h("span", { class: "muted", text: "slots of the cycle" })),
  );
}
