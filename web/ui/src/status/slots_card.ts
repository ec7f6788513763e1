// The slots of time that points are kept in: how large each is, whether it is sealed, when it goes; and how
// far they are around their cycle.
import { h, replace } from "../base/dom";
import { bytes, count, dateText, dateTimeText } from "../base/format";
import { durationInWords, printDuration } from "../question/time_range";
import type { Cycle, Slot } from "../server/status";
import { card, table, type Part } from "./parts";
import { ring } from "./ring";

const kBarsMax = 120;
const kDayMs = 86_400_000;

export class SlotsCard implements Part {
  readonly root: HTMLElement;
  private readonly cycles = h("div", { class: "cycles" });
  private shown = "";

  constructor() {
    this.root = card("Time slots", "card-wide", this.cycles);
  }

  show(cycles: Cycle[], now: number): void {
    const used = cycles.filter(({ slots, prefix }) => slots.length > 0 || prefix === "");
    this.root.hidden = cycles.length === 0;
    const text = JSON.stringify(used);
    if (text === this.shown) return; // what has the focus keeps it
    this.shown = text;
    const open = [...this.cycles.querySelectorAll("details")].map((one) => one.open);
    replace(this.cycles, ...used.map((cycle) => showCycle(cycle, now)));
    [...this.cycles.querySelectorAll("details")].forEach((one, i) => (one.open = open[i] ?? false));
  }
}

function inWords(ms: number): string {
  return durationInWords(printDuration(ms));
}

function kept(cycle: Cycle): string {
  return cycle.ttlMs === 0 ? "for ever" : `for ${inWords(cycle.ttlMs)}`;
}

function showCycle(cycle: Cycle, now: number): HTMLElement {
  const name = cycle.prefix === "" ? "All metrics" : `Metrics that start with “${cycle.prefix}”`;
  const all = cycle.slots.reduce((sum, { bytes: size }) => sum + size, 0);
  return h(
    "div",
    { class: "cycle" },
    h(
      "div",
      { class: "cycle-head" },
      h("h3", { text: name }),
      h("p", { class: "muted", text: `Kept ${kept(cycle)}, in slots of ${inWords(cycle.spanMs)}: ${count(cycle.slots.length, "slot")}, ${bytes(all)}` }),
    ),
    cycle.slots.length === 0 ? h("p", { class: "muted", text: "Nothing is on disk yet: points are in the head." }) : bars(cycle, now),
    cycle.ringSlots > 0 ? ring(cycle, now) : null,
    cycle.slots.length === 0 ? null : slotTable(cycle, now),
  );
}

function stateOf({ sealed, late, end }: Slot, now: number): string {
  if (late) return "late";
  if (sealed) return "sealed";
  return end > now ? "open" : "over";
}

const kStateTexts: Record<string, string> = {
  open: "takes points",
  over: "ended, not sealed yet",
  sealed: "sealed",
  late: "sealed, with late points",
};

function expiry(slot: Slot, cycle: Cycle): string {
  return cycle.ttlMs === 0 ? "never" : dateText(slot.end + cycle.ttlMs, "local");
}

// The same as the bars, for those who do not see them, or want to know exactly.
function slotTable(cycle: Cycle, now: number): HTMLElement {
  const rows = [...cycle.slots]
    .reverse()
    .slice(0, kBarsMax)
    .map((slot) => [nameOf(slot, cycle), bytes(slot.bytes), String(slot.files), kStateTexts[stateOf(slot, now)], expiry(slot, cycle)]);
  const columns = [{ text: "Slot" }, { text: "Size", number: true }, { text: "Files", number: true }, { text: "State" }, { text: "Expires" }];
  return h("details", { class: "slot-table" }, h("summary", { text: "As a table" }), table("Slots", columns, rows));
}

function nameOf(slot: Slot, cycle: Cycle): string {
  return cycle.spanMs % kDayMs === 0 ? dateText(slot.begin, "utc") : dateTimeText(slot.begin, "utc").slice(0, 16);
}

function bars(cycle: Cycle, now: number): HTMLElement {
  const slots = cycle.slots.slice(-kBarsMax);
  const most = slots.reduce((max, { bytes: size }) => Math.max(max, size), 1);
  const items = slots.map((slot) => {
    const state = stateOf(slot, now);
    const text = `${nameOf(slot, cycle)}: ${bytes(slot.bytes)} in ${count(slot.files, "file")}, ${kStateTexts[state]}, expires ${expiry(slot, cycle)}`;
    const fill = h("span", { class: `slot-fill slot-${state}` });
    fill.style.height = `${Math.max(3, (100 * slot.bytes) / most)}%`;
    return h("li", { class: "slot", title: text, "aria-label": text }, fill);
  });
  const states = [...new Set(slots.map((slot) => stateOf(slot, now)))];
  const cut = cycle.slots.length - slots.length;
  return h(
    "div",
    { class: "slot-bars" },
    h("div", { class: "slot-most muted", text: bytes(most) }),
    h("ol", { class: "slots", "aria-label": "Slots, oldest first" }, ...items),
    h(
      "div",
      { class: "slot-axis muted" },
      h("span", { text: `${cut > 0 ? `${cut} older, ` : ""}${nameOf(slots[0], cycle)}` }),
      slots.length > 1 ? h("span", { text: nameOf(slots[slots.length - 1], cycle) }) : null,
    ),
    h("ul", { class: "key-list" }, ...states.map((state) => h("li", {}, h("span", { class: `swatch slot-${state}` }), kStateTexts[state]))),
  );
}
