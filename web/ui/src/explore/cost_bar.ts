// Beneath the answer: what it amounts to, and what it cost to get.
import type { Cost } from "../answer/cost";
import { h, replace } from "../base/dom";
import { bytes, count, elapsed } from "../base/format";
import type { Frame } from "../views/frame";

interface Part {
  id: string;
  text: string;
  ms: number;
  title: string;
}

const kStages: [string, string, string][] = [
  ["queue", "wait", "Waits for other queries"],
  ["select", "find series", "Resolves names and filters to series"],
  ["read", "read", "Reads points, downsamples them and computes rates"],
  ["merge", "aggregate", "Combines series into groups"],
  ["evaluate", "read and evaluate", "Reads points and computes the expression at each step"],
  ["sort", "sort", "Orders the result"],
  ["annotations", "annotations", "Reads annotations of the series and global annotations"],
];

export class CostBar {
  readonly root = h("div", { class: "cost" });

  clear(): void {
    this.root.hidden = true;
    replace(this.root);
  }

  show(frame: Frame): void {
    this.root.hidden = frame.cost === null;
    if (frame.cost === null) return;
    const parts = partsOf(frame, frame.cost);
    replace(this.root, this.work(frame, frame.cost), this.bar(parts), this.times(parts));
  }

  private work(frame: Frame, cost: Cost): HTMLElement {
    const items: string[][] = [];
    if (cost.series !== undefined) {
      items.push(["Series read", count(cost.series, "series"), "Series that match the filters and have points in the time range"]);
    }
    if (cost.samples !== undefined) {
      items.push(["Samples", count(cost.samples, "sample"), "Samples that the steps of the expression used. One point can be many samples"]);
    }
    items.push(["Points read", count(cost.pointsRead, "point"), "Stored points that were decoded, or replaced by totals"]);
    if (cost.chunksDecoded + cost.chunksSkipped > 0) {
      const text = `${count(cost.chunksDecoded, "chunk")} decoded, ${cost.chunksSkipped} skipped`;
      items.push(["Chunks", text, "Chunks of points on disk. Skipped chunks are outside the time range"]);
    }
    if (cost.totals > 0) {
      items.push(["From summaries", count(cost.totals, "total"), "Hours answered from totals, without reading their points"]);
    }
    items.push(["Answer", `${count(cost.pointsOut, "point")}, ${bytes(frame.answer.length)}`, "Size of the answer on the network"]);
    return h(
      "dl",
      { class: "cost-work" },
      ...items.map(([name, text, title]) => h("div", { title }, h("dt", { text: name }), h("dd", { text }))),
    );
  }

  private bar(parts: Part[]): HTMLElement {
    const all = parts.reduce((sum, { ms }) => sum + ms, 0) || 1;
    const bar = h("div", { class: "cost-bar", "aria-hidden": "true" });
    for (const { id, ms } of parts) {
      const piece = h("span", { class: `cost-piece cost-${id}` });
      piece.style.width = `${((100 * ms) / all).toFixed(2)}%`;
      bar.append(piece);
    }
    return bar;
  }

  private times(parts: Part[]): HTMLElement {
    return h(
      "ul",
      { class: "key-list cost-times", "aria-label": "Time by stage" },
      ...parts.map(({ id, text, ms, title }) =>
        h("li", { title }, h("span", { class: `swatch cost-${id}` }), `${text} `, h("b", { text: elapsed(ms) })),
      ),
    );
  }
}

// The stages in the server, what the server does besides, and all that is not the server.
function partsOf(frame: Frame, cost: Cost): Part[] {
  const parts = kStages
    .map(([id, text, title]) => ({ id, text, title, ms: cost.stages[id] ?? 0 }))
    .filter(({ id, ms }) => ms > 0 || (id === "read" && cost.stages.read !== undefined));
  const staged = parts.reduce((sum, { ms }) => sum + ms, 0);
  parts.push({
    id: "rest",
    text: "network and text",
    title: "Time to write, send and parse the answer",
    ms: Math.max(0, frame.ms - Math.max(staged, 0)),
  });
  return parts;
}
