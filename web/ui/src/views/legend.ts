// The table under the graph: one row a series, with the value under the crosshair and last, min, max, avg.
import type { Series, Stats } from "../answer/series";
import { labelOf } from "../answer/series";
import { h, replace } from "../base/dom";
import { compact, dateTimeText, exact } from "../base/format";
import { askedOf, queryLetter } from "../question/state";
import type { Frame } from "./frame";

export interface LegendEvents {
  onToggle(index: number, alone: boolean): void;
  onFocus(index: number | null): void;
}

type Column = "name" | "now" | keyof Omit<Stats, "count">;

const kColumns: { id: Column; text: string; title: string }[] = [
  { id: "name", text: "Series", title: "Sort by name" },
  { id: "now", text: "At crosshair", title: "The value under the crosshair" },
  { id: "last", text: "Last", title: "Sort by the last value" },
  { id: "min", text: "Min", title: "Sort by the minimum" },
  { id: "max", text: "Max", title: "Sort by the maximum" },
  { id: "avg", text: "Avg", title: "Sort by the average of the shown points" },
];

const kStats = ["last", "min", "max", "avg"] as const;

const kRowsMax = 500;

export class Legend {
  readonly root: HTMLElement;
  private readonly head: HTMLTableSectionElement;
  private readonly body: HTMLTableSectionElement;
  private readonly more: HTMLElement;
  private frame: Frame | null = null;
  private colours: string[] = [];
  private hidden: boolean[] = [];
  private sort: { by: Column; up: boolean } | null = null; // null: the order of the answer
  private rows: HTMLTableRowElement[] = []; // by series
  private nowCells: HTMLTableCellElement[] = []; // by series
  private statCells: HTMLTableCellElement[][] = []; // by series, then as in kStats
  private built = ""; // which series stand in which row; while it stays, only numbers change
  private nowHead: HTMLElement | null = null;

  constructor(private readonly events: LegendEvents) {
    this.head = h("thead");
    this.body = h("tbody", { on: { mouseleave: () => events.onFocus(null) } });
    this.more = h("p", { class: "muted" });
    const table = h("table", { class: "legend-table" }, h("caption", { class: "offscreen", text: "Series" }), this.head, this.body);
    this.root = h("div", { class: "legend", tabindex: "0", role: "region", "aria-label": "Series" }, table, this.more);
  }

  set(frame: Frame, colours: string[], hidden: boolean[]): void {
    this.frame = frame;
    this.colours = colours;
    this.hidden = hidden;
    if (this.keyOf(frame) === this.built) frame.series.forEach((series, i) => this.showStats(series, i));
    else this.rebuild();
  }

  private keyOf(frame: Frame): string {
    const rows = this.order(frame.series).map((i) => [i, labelOf(frame.series[i]), this.colours[i], this.hidden[i]]);
    return JSON.stringify([rows, this.sort, askedOf(frame.state).map(({ name, hidden }) => name && !hidden)]);
  }

  private showStats({ stats }: Series, index: number): void {
    this.statCells[index]?.forEach((cell, i) => {
      const value = stats[kStats[i]];
      cell.textContent = compact(value, 5);
      cell.title = exact(value);
    });
  }

  setHidden(hidden: boolean[]): void {
    this.hidden = hidden;
    this.rows.forEach((row, i) => {
      if (!row) return;
      row.classList.toggle("off", hidden[i]);
      row.querySelector("button")?.setAttribute("aria-pressed", String(!hidden[i]));
    });
  }

  setCursor(idx: number | null): void {
    const frame = this.frame;
    if (!frame) return;
    const time = idx === null ? undefined : frame.joined.times[idx];
    if (this.nowHead) {
      const text = time === undefined ? "At crosshair" : dateTimeText(time, frame.state.zone).slice(11);
      this.nowHead.textContent = text;
    }
    this.nowCells.forEach((cell, i) => {
      const value = idx === null ? undefined : frame.joined.columns[i][idx];
      cell.textContent = value === null || value === undefined ? "" : compact(value, 5);
    });
  }

  private rebuild(): void {
    const frame = this.frame;
    if (!frame) return;
    this.built = this.keyOf(frame);
    this.rows = [];
    this.nowCells = [];
    this.statCells = [];
    replace(this.head, h("tr", {}, ...kColumns.map((column) => this.headCell(column))));
    const order = this.order(frame.series);
    const shown = order.slice(0, kRowsMax);
    replace(this.body, ...shown.map((index) => this.row(frame, index)));
    const left = order.length - shown.length;
    this.more.hidden = left === 0;
    this.more.textContent = `and ${left} more series, drawn but not listed`;
  }

  private headCell({ id, text, title }: (typeof kColumns)[number]): HTMLElement {
    if (id === "now") {
      this.nowHead = h("span", { text });
      return h("th", { scope: "col", class: "number", title }, this.nowHead);
    }
    const sorted = this.sort?.by === id;
    const arrow = sorted ? (this.sort?.up ? " ↑" : " ↓") : "";
    const button = h("button", { type: "button", class: "sort", title, text: text + arrow });
    button.addEventListener("click", () => {
      const up = sorted ? !this.sort?.up : id === "name";
      this.sort = { by: id, up };
      this.rebuild();
      const buttons = this.head.querySelectorAll<HTMLElement>("button");
      [...buttons].find((one) => one.textContent?.startsWith(text))?.focus();
    });
    return h(
      "th",
      {
        scope: "col",
        class: id === "name" ? "" : "number",
        "aria-sort": sorted ? (this.sort?.up ? "ascending" : "descending") : "none",
      },
      button,
    );
  }

  private order(series: Series[]): number[] {
    const order = series.map((_, i) => i);
    const sort = this.sort;
    if (!sort || sort.by === "now") return order;
    const sign = sort.up ? 1 : -1;
    const by = sort.by;
    if (by === "name") {
      const labels = series.map(labelOf);
      return order.sort((a, b) => sign * labels[a].localeCompare(labels[b], "en", { numeric: true }));
    }
    const key = (i: number): number => {
      const value = series[i].stats[by];
      return Number.isNaN(value) ? -Infinity * sign : value;
    };
    return order.sort((a, b) => (key(a) === key(b) ? a - b : sign * (key(a) - key(b))));
  }

  private row(frame: Frame, index: number): HTMLElement {
    const series = frame.series[index];
    const now = h("td", { class: "number now" });
    this.nowCells[index] = now;
    this.statCells[index] = kStats.map(() => h("td", { class: "number" }));
    this.showStats(series, index);
    const row = h(
      "tr",
      { class: this.hidden[index] ? "off" : "", on: { mouseenter: () => this.events.onFocus(index) } },
      h("th", { scope: "row" }, this.nameButton(frame, series, index)),
      now,
      ...this.statCells[index],
    );
    this.rows[index] = row;
    return row;
  }

  private nameButton(frame: Frame, series: Series, index: number): HTMLElement {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = this.colours[index];
    const several = askedOf(frame.state).filter(({ name, hidden }) => name && !hidden).length > 1;
    const tags = Object.entries(series.tags).sort(([a], [b]) => (a < b ? -1 : 1));
    const aggregated = series.aggregateTags.length ? ` · over ${series.aggregateTags.join(", ")}` : "";
    return h(
      "button",
      {
        type: "button",
        class: "series-name",
        "aria-pressed": String(!this.hidden[index]),
        title: `${labelOf(series)}${aggregated}\nClick: hide or show. Ctrl or Shift and click: only this one.`,
        on: {
          click: (event: MouseEvent) => this.events.onToggle(index, event.ctrlKey || event.metaKey || event.shiftKey),
        },
      },
      swatch,
      several ? h("span", { class: "letter", text: queryLetter(series.query) }) : null,
      series.metric ? h("span", { class: "series-metric", text: series.metric }) : null,
      ...tags.map(([key, value]) => h("span", { class: "tag" }, h("span", { text: `${key}=` }), value)),
    );
  }
}
