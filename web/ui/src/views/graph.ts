// The graph: uPlot with our axes, zoom by drag, reset by double click, crosshair, and broken lines where
// data is missing.
import uPlot from "../../vendor/uplot/uPlot.esm.js";
import type { Column } from "../answer/join";
import type { Series } from "../answer/series";
import { labelOf } from "../answer/series";
import { kThemeEvent } from "../base/theme";
import { h } from "../base/dom";
import { askedOf } from "../question/state";
import { timeTicks, valueTicks } from "./axis_text";
import type { Frame, View } from "./frame";
import { makeWalkable } from "./graph_keys";
import { Highlight } from "./highlight";
import { Legend } from "./legend";
import { MovedPicture } from "./moved_picture";
import { NoteMarks } from "./note_marks";
import { seriesColours, seriesDash, variable } from "./palette";
import { Tooltip } from "./tooltip";
import { zonedDate } from "./zoned_date";

export interface GraphEvents {
  onZoom(start: number, end: number): void; // ms since 1970
  onReset(): void;
}

const kZoomMinMs = 1000;
const kZoomMinPx = 4;
const kDensePoints = 100_000; // above, lines are thin and never dashed: wide dashes take seconds to paint
const kHeightMin = 260;
const kHeightMax = 460;

export class Graph implements View {
  readonly root: HTMLElement;
  private readonly canvas: HTMLElement;
  private readonly legend: Legend;
  private readonly tooltip: Tooltip;
  private readonly notes = new NoteMarks();
  private readonly highlight = new Highlight();
  private readonly moved = new MovedPicture();
  private plot: uPlot | null = null;
  private frame: Frame | null = null;
  private built = ""; // what the plot was built for; while it stays, new data goes into the same plot
  private hiddenLabels = new Set<string>();

  constructor(private readonly events: GraphEvents) {
    this.canvas = h("div", { class: "plot" });
    this.tooltip = new Tooltip();
    this.legend = new Legend({
      onToggle: (index, alone) => this.toggle(index, alone),
      onFocus: (index) => this.highlight.show(index, index === null ? "" : this.colours()[index]),
    });
    this.root = h("div", { class: "graph" }, this.canvas, this.legend.root);
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    window.addEventListener(kThemeEvent, () => this.rebuild());
  }

  widthPx(): number {
    return this.canvas.clientWidth || 800;
  }

  show(frame: Frame): void {
    this.rest();
    this.frame = frame;
    const key = this.keyOf(frame);
    if (this.plot && key === this.built) {
      this.tooltip.set(frame, this.colours());
      this.plot.setData(plotData(frame));
      this.legend.set(frame, this.colours(), this.hiddenNow());
      this.notes.set(frame);
      this.notes.place(this.plot);
    } else {
      this.rebuild();
    }
  }

  // Where the picture was before it was dragged.
  rest(): void {
    this.moved.end();
    this.notes.shift(0);
  }

  private keyOf({ series, state }: Frame): string {
    const asked = askedOf(state);
    const axes = series.map((one) => [labelOf(one), asked[one.query]?.rightAxis]);
    return JSON.stringify([axes, state.logScale, state.fromZero, state.zone]);
  }

  private colours(): string[] {
    return seriesColours(this.frame?.series.length ?? 0);
  }

  private hiddenNow(): boolean[] {
    return (this.frame?.series ?? []).map((one) => this.hiddenLabels.has(labelOf(one)));
  }

  private rebuild(): void {
    const frame = this.frame;
    if (!frame) return;
    this.rest();
    this.plot?.destroy();
    this.built = this.keyOf(frame);
    const colours = this.colours();
    this.tooltip.set(frame, colours);
    this.plot = new uPlot(this.options(frame, colours), plotData(frame), this.canvas);
    this.highlight.attach(this.plot);
    this.tooltip.attach(this.plot);
    this.legend.set(frame, colours, this.hiddenNow());
    this.notes.set(frame);
    this.notes.attach(this.plot);
    this.notes.place(this.plot);
    makeWalkable(this.plot, { onZoom: this.events.onZoom, onShift: (px) => this.shift(px) });
  }

  private resize(): void {
    const width = this.canvas.clientWidth;
    if (!this.plot || width === 0 || width === this.plot.width) return;
    this.rest();
    this.plot.setSize({ width, height: this.height() });
  }

  // While it is dragged, and then until the answer is here.
  private shift(px: number): void {
    if (!this.plot || px === 0) return this.rest();
    this.moved.move(this.plot, px);
    this.legend.setCursor(null);
    this.notes.shift(px);
  }

  private height(): number {
    return Math.round(Math.min(kHeightMax, Math.max(kHeightMin, window.innerHeight * 0.5)));
  }

  private toggle(index: number, alone: boolean): void {
    const series = this.frame?.series ?? [];
    const labels = series.map(labelOf);
    if (alone) {
      const onlyThis = labels.every((label, i) => (i === index) !== this.hiddenLabels.has(label));
      this.hiddenLabels = new Set(onlyThis ? [] : labels.filter((_, i) => i !== index));
    } else if (!this.hiddenLabels.delete(labels[index])) {
      this.hiddenLabels.add(labels[index]);
    }
    const hidden = this.hiddenNow();
    this.plot?.batch(() => hidden.forEach((off, i) => this.plot?.setSeries(i + 1, { show: !off })));
    this.legend.setHidden(hidden);
  }

  private options(frame: Frame, colours: string[]): uPlot.Options {
    const hidden = this.hiddenNow();
    const asked = askedOf(frame.state);
    const rightUsed = frame.series.some((one) => asked[one.query]?.rightAxis);
    const points = frame.series.reduce((n, one) => n + one.times.length, 0);
    const dense = points > kDensePoints;
    return {
      width: this.widthPx(),
      height: this.height(),
      ms: 1,
      tzDate: (time) => zonedDate(time, frame.state.zone),
      padding: [12, rightUsed ? 0 : 14, 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: true, y: false, setScale: false },
        points: { size: 7 },
        bind: {
          dblclick: () => () => {
            this.events.onReset();
            return null;
          },
        },
      },
      scales: this.scales(frame),
      axes: this.axes(rightUsed),
      series: [
        {},
        ...frame.series.map((one, i) => ({
          label: labelOf(one),
          scale: asked[one.query]?.rightAxis ? "right" : "left",
          show: !hidden[i],
          stroke: colours[i],
          fill: frame.series.length === 1 ? `${colours[i]}1f` : undefined, // a lone line stands on its shade
          dash: dense ? undefined : seriesDash(i),
          width: dense ? 1 : 1.5,
          points: { size: 5 },
          gaps: gapsOf(() => this.frame?.series[i] ?? one),
        })),
      ],
      hooks: {
        setSelect: [(plot) => this.zoom(plot)],
        drawClear: [() => this.highlight.forgetPoints()],
        draw: [
          (plot) => {
            this.notes.place(plot);
            this.highlight.refresh();
          },
        ],
        setCursor: [
          (plot) => {
            if (this.moved.shown) return; // what stands under the pointer is not what the plot takes it for
            this.tooltip.move(plot);
            this.legend.setCursor(plot.cursor.idx ?? null);
          },
        ],
      },
    };
  }

  private scales({ state, joined }: Frame): uPlot.Scales {
    const distr = state.logScale && hasPositive(joined.columns) ? 3 : 1;
    const vertical: uPlot.Scale = { distr };
    if (distr === 1) {
      vertical.range = (_plot, min, max) => valueRange(min, max, state.fromZero);
    }
    return {
      x: {
        time: true,
        range: () => [this.frame?.range.start ?? 0, this.frame?.range.end ?? 1],
      },
      left: vertical,
      right: { ...vertical },
    };
  }

  private axes(rightUsed: boolean): uPlot.Axis[] {
    const look = {
      stroke: variable("--axis-text"),
      font: `12px ${variable("--font")}`,
      grid: { stroke: variable("--grid"), width: 1 },
      ticks: { stroke: variable("--grid"), width: 1, size: 5 },
    };
    const vertical: uPlot.Axis = {
      ...look,
      scale: "left",
      values: (_plot, ticks) => valueTicks(ticks),
      size: (_plot, values) => 22 + 7 * Math.max(3, ...(values ?? []).map((text) => text.length)),
    };
    const axes: uPlot.Axis[] = [
      {
        ...look,
        space: 90,
        size: 46,
        values: (_plot, ticks, _axis, _space, step) => timeTicks(ticks, step, this.frame?.state.zone ?? "local"),
      },
      vertical,
    ];
    if (rightUsed) axes.push({ ...vertical, scale: "right", side: 1, grid: { show: false } });
    return axes;
  }

  private zoom(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < kZoomMinPx) return;
    let start = plot.posToVal(left, "x");
    let end = plot.posToVal(left + width, "x");
    if (end - start < kZoomMinMs) {
      const middle = (start + end) / 2;
      start = middle - kZoomMinMs / 2;
      end = middle + kZoomMinMs / 2;
    }
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.events.onZoom(Math.round(start), Math.round(end));
  }
}

function plotData({ joined, series }: Frame): uPlot.AlignedData {
  const columns = joined.columns.map((column, i) => (endless(series[i]) ? finite(column) : column));
  return [joined.times, ...columns] as uPlot.AlignedData;
}

function endless({ stats }: Series): boolean {
  return Math.abs(stats.min) === Infinity || Math.abs(stats.max) === Infinity;
}

// Infinity has no place on an axis: a gap.
function finite(column: Column): Column {
  return Array.from(column, (v) => (typeof v === "number" && !Number.isFinite(v) ? null : v));
}

function hasPositive(columns: Column[]): boolean {
  return columns.some((column) => {
    for (let i = 0; i < column.length; i++) {
      const v = column[i];
      if (v !== null && v !== undefined && v > 0) return true;
    }
    return false;
  });
}

// A little air above and below; from zero when asked, or when zero is near anyway.
function valueRange(min: number | null, max: number | null, fromZero: boolean): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  if (fromZero) {
    min = Math.min(0, min);
    max = Math.max(0, max);
  }
  if (min === max) {
    const room = min === 0 ? 1 : Math.abs(min) * 0.1;
    return min === 0 ? [0, 1] : [min - room, max + room];
  }
  const room = (max - min) * 0.06;
  const low = min >= 0 && min - room * 4 <= 0 ? 0 : min - (min === 0 ? 0 : room);
  const high = max <= 0 && max + room * 4 >= 0 ? 0 : max + (max === 0 ? 0 : room);
  return [low, high];
}

// Adds the long silences of a series to the gaps that its nulls make.
function gapsOf(series: () => Series): uPlot.Series.GapsRefiner {
  return (plot, _index, _from, _to, nullGaps) => {
    const { breaks } = series();
    if (breaks.length === 0) return nullGaps;
    const silent = breaks.map(
      ([from, to]): uPlot.Series.Gap => [
        Math.round(plot.valToPos(from, "x", true)),
        Math.round(plot.valToPos(to, "x", true)),
      ],
    );
    return mergeGaps([...nullGaps, ...silent]);
  };
}

function mergeGaps(gaps: uPlot.Series.Gap[]): uPlot.Series.Gap[] {
  gaps.sort((a, b) => a[0] - b[0]);
  const merged: uPlot.Series.Gap[] = [];
  for (const gap of gaps) {
    const before = merged[merged.length - 1];
    if (before && gap[0] <= before[1]) before[1] = Math.max(before[1], gap[1]);
    else merged.push([gap[0], gap[1]]);
  }
  return merged;
}
