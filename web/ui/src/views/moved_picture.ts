// The picture while it is dragged to the side: a copy of what is drawn follows the pointer, axis and lines
// alike, and nothing is drawn anew until the range has been chosen and its answer is here.
import type uPlot from "../../vendor/uplot/uPlot.esm.js";
import { h } from "../base/dom";

export class MovedPicture {
  private readonly canvas = h("canvas");
  private readonly root = h("div", { class: "moved-picture" }, this.canvas);
  private plot: uPlot | null = null; // whose picture is shown

  get shown(): boolean {
    return this.plot !== null;
  }

  move(plot: uPlot, px: number): void {
    if (this.plot !== plot) this.begin(plot);
    this.canvas.style.transform = `translateX(${px}px)`;
  }

  end(): void {
    if (!this.plot) return;
    this.plot.root.classList.remove("moved");
    this.plot = null;
    this.root.remove();
    this.canvas.width = 0; // gives the memory back
  }

  private begin(plot: uPlot): void {
    this.end();
    this.plot = plot;
    const from = plot.ctx.canvas;
    const { left, width } = plot.bbox;
    this.canvas.width = width;
    this.canvas.height = from.height;
    this.canvas.getContext("2d")?.drawImage(from, left, 0, width, from.height, 0, 0, width, from.height);
    this.root.style.left = plot.over.style.left;
    this.root.style.width = plot.over.style.width;
    plot.over.before(this.root);
    plot.root.classList.add("moved");
  }
}
