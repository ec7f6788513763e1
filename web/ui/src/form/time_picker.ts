// The time range: quick choices, any relative span, or two dates; and the zone they are read in.
import { field, h, select } from "../base/dom";
import { icon } from "../base/icons";
import { popover } from "../base/popover";
import { two } from "../base/format";
import { allZoneNames, localZoneName, timeParts, type Zone } from "../base/zone";
import { agoDuration, calendarRanges, parseDuration, parseTime, rangeInWords } from "../question/time_range";

export interface PickedRange {
  start: string;
  end: string;
}

const kQuick = ["5m", "15m", "30m", "1h", "3h", "6h", "12h", "24h", "2d", "7d", "30d", "90d", "1y"];

export class TimePicker {
  readonly root: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly text: HTMLElement;
  private readonly quick: HTMLElement;
  private readonly days = h("div", { class: "quick", role: "group", "aria-label": "Days and weeks" });
  private readonly relative: HTMLInputElement;
  private readonly from: HTMLInputElement;
  private readonly to: HTMLInputElement;
  private readonly zoneSelect: HTMLSelectElement;
  private readonly close: () => void;
  private range: PickedRange = { start: "1h-ago", end: "" };
  private zone: Zone = "local";

  constructor(
    private readonly onRange: (range: PickedRange) => void,
    onZone: (zone: Zone) => void,
  ) {
    this.text = h("span");
    this.button = h("button", { type: "button", class: "button", id: "time-range" }, icon("clock"), this.text, icon("down"));
    this.quick = h("div", { class: "quick", role: "group", "aria-label": "Quick ranges" });
    this.relative = h("input", { type: "text", class: "short", placeholder: "90m", spellcheck: "false" });
    this.from = h("input", { type: "datetime-local", step: "1" });
    this.to = h("input", { type: "datetime-local", step: "1" });
    const zones = [
      { value: "local", text: `Local (${localZoneName()})` },
      { value: "utc", text: "UTC" },
      ...allZoneNames().map((name) => ({ value: name, text: name.replace(/_/g, " ") })),
    ];
    this.zoneSelect = select(zones, "local", onZone);
    const panel = h(
      "div",
      { class: "time-panel", role: "dialog", "aria-label": "Time range" },
      this.quick,
      this.days,
      this.relativeForm(),
      this.absoluteForm(),
      field("Time zone", this.zoneSelect),
    );
    const anchored = popover(this.button, panel, () => this.fill());
    this.root = anchored.root;
    this.close = anchored.close;
  }

  set(range: PickedRange, zone: Zone): void {
    this.range = range;
    this.zone = zone;
    this.zoneSelect.value = zone;
    this.text.textContent = rangeInWords(range.start, range.end, zone);
    this.button.setAttribute("aria-label", `Time range: ${this.text.textContent}`);
    if (this.quick.isConnected) this.fill();
  }

  private pick(range: PickedRange): void {
    this.close();
    this.button.focus();
    this.onRange(range);
  }

  private relativeForm(): HTMLElement {
    const form = h("form", { class: "row" }, field("Last", this.relative, "grow"), submitButton("Apply"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.relative.value.trim();
      const good = parseDuration(text) !== null;
      this.relative.setCustomValidity(good ? "" : "A number and a unit: 90m, 36h, 10d");
      if (this.relative.reportValidity()) this.pick({ start: `${text}-ago`, end: "" });
    });
    this.relative.addEventListener("input", () => this.relative.setCustomValidity(""));
    return form;
  }

  private absoluteForm(): HTMLElement {
    const form = h(
      "form",
      { class: "absolute" },
      field("From", this.from),
      field("To", this.to),
      submitButton("Apply"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const start = parseTime(this.from.value || "?", 0, this.zone);
      const end = this.to.value ? parseTime(this.to.value, 0, this.zone) : null;
      this.from.setCustomValidity(start === null ? "Enter a date and a time" : "");
      const wrong = start !== null && end !== null && end <= start;
      this.to.setCustomValidity(wrong ? "This must come after From" : "");
      if (!form.reportValidity()) return;
      this.pick({ start: String(start), end: end === null ? "" : String(end) });
    });
    for (const input of [this.from, this.to]) {
      input.addEventListener("input", () => {
        this.from.setCustomValidity("");
        this.to.setCustomValidity("");
      });
    }
    return form;
  }

  private fill(): void {
    const ago = this.range.end === "" ? agoDuration(this.range.start) : null;
    this.quick.replaceChildren(
      ...kQuick.map((span) =>
        h("button", {
          type: "button",
          class: "chip",
          text: span,
          title: rangeInWords(`${span}-ago`, "", this.zone),
          "aria-pressed": String(ago === span),
          "data-first": ago === span,
          on: { click: () => this.pick({ start: `${span}-ago`, end: "" }) },
        }),
      ),
    );
    this.days.replaceChildren(
      ...calendarRanges(Date.now(), this.zone).map(({ name, start, end }) =>
        h("button", { type: "button", class: "chip", text: name, on: { click: () => this.pick({ start, end }) } }),
      ),
    );
    this.relative.value = ago ?? "";
    const now = Date.now();
    this.from.value = this.inputValue(parseTime(this.range.start, now, this.zone));
    this.to.value = this.inputValue(parseTime(this.range.end, now, this.zone));
  }

  // As <input type=datetime-local> wants it.
  private inputValue(time: number | null): string {
    if (time === null) return "";
    const p = timeParts(time, this.zone);
    const date = `${String(p.year).padStart(4, "0")}-${two(p.month)}-${two(p.day)}`;
    return `${date}T${two(p.hour)}:${two(p.minute)}:${two(p.second)}`;
  }
}

function submitButton(text: string): HTMLElement {
  return h("button", { type: "submit", class: "button button-small", text });
}
