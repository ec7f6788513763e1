// One line brought out, the others paled: a veil over the picture, and the line drawn again above it. The picture
// itself stays as it is: to draw a hundred lines anew for each row of the legend is what nobody's processor has time for.
import type uPlot from "../../vendor/uplot/uPlot.esm.js";
import { h } from "../base/dom";

type Paths = uPlot.Series.Paths | null;

export class Highlight {
  private readonly veil = h("div", { class: "veil" });
  private readonly canvas = h("canvas", { class: "highlight" });
  private plot: uPlot | null = null;
  private lines: Paths[] = []; // by series: what uPlot has drawn last
  private points: Paths[] = [];
  private shown: number | null = null; // a place in plot.series
  private colour = "";

  // Before the plot draws for the first time.
  attach(plot: uPlot): void {
    this.plot = plot;
    this.lines = [];
    this.points = [];
    this.shown = null;
    plot.over.before(this.veil, this.canvas);
    plot.series.forEach((series, i) => {
      if (i === 0) return;
      series.paths = remember(series.paths, this.lines, i);
      if (series.points) series.points.paths = remember(series.points.paths, this.points, i);
    });
    this.refresh();
  }

  show(index: number | null, colour = ""): void {
    this.shown = index === null ? null : index + 1;
    this.colour = colour;
    this.refresh();
  }

  // The plot is about to draw: it tells again which points stand alone.
  forgetPoints(): void {
    this.points.length = 0;
  }

  // The plot has drawn.
  refresh(): void {
    const { plot, shown } = this;
    // A line alone needs no bringing out.
    const on = plot !== null && shown !== null && plot.series.length > 2 && plot.series[shown]?.show === true;
    this.veil.hidden = this.canvas.hidden = !on;
    if (on) this.draw(plot, shown);
  }

  private draw(plot: uPlot, shown: number): void {
    const from = plot.ctx.canvas;
    const { left, top, width, height } = plot.over.style;
    Object.assign(this.veil.style, { left, top, width, height });
    if (this.canvas.width !== from.width) this.canvas.width = from.width;
    if (this.canvas.height !== from.height) this.canvas.height = from.height;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const series = plot.series[shown];
    const linePx = (series.width ?? 1) * devicePixelRatio;
    const half = (linePx % 2) / 2; // as uPlot has its lines: sharp on the pixels' grid
    context.clearRect(0, 0, from.width, from.height);
    context.strokeStyle = this.colour;
    context.lineWidth = linePx;
    context.lineJoin = "round";
    context.setLineDash((series.dash ?? []).map((length) => length * devicePixelRatio));
    context.save();
    context.translate(half, half);
    context.beginPath();
    context.rect(plot.bbox.left - linePx / 2, plot.bbox.top - linePx / 2, plot.bbox.width + linePx, plot.bbox.height + linePx);
    context.clip();
    stroke(context, this.lines[shown]);
    context.restore();
    const points = this.points[shown];
    if (!(points?.fill instanceof Path2D)) return;
    context.fillStyle = "#fff"; // uPlot's points are rings
    context.lineWidth = (series.points?.width ?? 1) * devicePixelRatio;
    context.setLineDash([]);
    context.fill(points.fill);
    context.stroke(points.fill);
  }
}

function stroke(context: CanvasRenderingContext2D, paths: Paths | undefined): void {
  if (paths?.clip) context.clip(paths.clip);
  if (paths?.stroke instanceof Path2D) context.stroke(paths.stroke);
}

// `make`, keeping what it made.
function remember<A extends unknown[], P extends Paths>(
  make: ((...given: A) => P | null) | undefined,
  into: Paths[],
  index: number,
): (...given: A) => P | null {
  return (...given) => (into[index] = make?.(...given) ?? null) as P | null;
}
