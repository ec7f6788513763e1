// The box beside the crosshair: the time, and the series nearest to the pointer.
import type uPlot from "../../vendor/uplot/uPlot.esm.js";
import { labelOf } from "../answer/series";
import { compact, dateTimeText } from "../base/format";
import { h, replace } from "../base/dom";
import type { Frame } from "./frame";

const kRows = 8;

interface Row {
  index: number;
  value: number;
  distance: number; // pixels from the pointer
}

export class Tooltip {
  private readonly root = h("div", { class: "tooltip" });
  private frame: Frame | null = null;
  private colours: string[] = [];
  private labels: string[] = [];

  set(frame: Frame, colours: string[]): void {
    this.frame = frame;
    this.colours = colours;
    this.labels = frame.series.map(labelOf);
    this.root.hidden = true;
  }

  attach(plot: uPlot): void {
    plot.over.append(this.root);
  }

  move(plot: uPlot): void {
    const { idx, left, top } = plot.cursor;
    const rows = idx === null || idx === undefined ? [] : this.rows(plot, idx, top ?? 0);
    if (!this.frame || rows.length === 0 || (left ?? -1) < 0) {
      this.root.hidden = true;
      return;
    }
    const time = dateTimeText(this.frame.joined.times[idx as number], this.frame.state.zone);
    const nearest = rows.reduce((a, b) => (b.distance < a.distance ? b : a));
    const lines = rows.map((row) => this.line(row, row === nearest && rows.length > 1));
    const others = this.countAt(idx as number) - rows.length;
    replace(
      this.root,
      h("div", { class: "tooltip-time", text: time }),
      ...lines,
      others > 0 ? h("div", { class: "muted", text: `and ${others} more` }) : null,
    );
    this.root.hidden = false;
    this.place(plot, left as number, top as number);
  }

  private rows(plot: uPlot, idx: number, top: number): Row[] {
    const rows: Row[] = [];
    this.frame?.joined.columns.forEach((column, index) => {
      const value = column[idx];
      const series = plot.series[index + 1];
      if (value === null || value === undefined || !series?.show) return;
      const distance = Math.abs(plot.valToPos(value, series.scale ?? "left") - top);
      rows.push({ index, value, distance });
    });
    rows.sort((a, b) => a.distance - b.distance);
    return rows.slice(0, kRows).sort((a, b) => b.value - a.value);
  }

  private countAt(idx: number): number {
    let n = 0;
    for (const column of this.frame?.joined.columns ?? []) {
      if (column[idx] !== null && column[idx] !== undefined) n += 1;
    }
    return n;
  }

  private line({ index, value }: Row, nearest: boolean): HTMLElement {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = this.colours[index];
    return h(
      "div",
      { class: nearest ? "tooltip-row tooltip-nearest" : "tooltip-row" },
      swatch,
      h("span", { class: "tooltip-label", text: this.labels[index] }),
      h("span", { class: "tooltip-value", text: compact(value, 5) }),
    );
  }

  private place(plot: uPlot, left: number, top: number): void {
    const width = this.root.offsetWidth;
    const height = this.root.offsetHeight;
    const over = plot.over;
    const x = left + 16 + width > over.clientWidth ? Math.max(-40, left - 16 - width) : left + 16;
    const y = Math.min(Math.max(0, top - height / 2), Math.max(0, over.clientHeight - height));
    this.root.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}
