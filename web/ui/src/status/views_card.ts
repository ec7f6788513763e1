// The views: what each keeps, how long, and how much of it is computed.
import { h, replace } from "../base/dom";
import { bytes, compact } from "../base/format";
import { printDuration } from "../question/time_range";
import type { View } from "../server/status";
import { card, table, type Part } from "./parts";

export class ViewsCard implements Part {
  readonly root: HTMLElement;
  private readonly list = h("div");

  constructor() {
    this.root = card("Views", "card-wide", this.list);
    this.root.hidden = true; // until there are any
  }

  show(views: View[]): void {
    this.root.hidden = views.length === 0;
    const columns = [
      { text: "View" },
      { text: "Metrics" },
      { text: "Groups by" },
      { text: "Bucket", number: true },
      { text: "Kept", number: true },
      { text: "Computed", number: true },
      { text: "Lag", number: true },
      { text: "Size", number: true },
      { text: "State", long: true },
    ];
    replace(this.list, table("Views", columns, views.map(row)));
  }
}

function row(view: View): (string | Node)[] {
  return [
    view.name,
    h("code", { text: view.metrics }),
    view.groupBy === null ? "all tags" : view.groupBy.join(", ") || "nothing",
    printDuration(view.intervalMs),
    view.keepMs === 0 ? "forever" : printDuration(view.keepMs),
    part(view),
    view.lagMs === null ? "–" : rough(view.lagMs),
    bytes(view.bytes),
    state(view),
  ];
}

function part({ unitsBuilt, unitsWaiting }: View): HTMLElement {
  const all = unitsBuilt + unitsWaiting;
  const text = all === 0 ? "–" : `${Math.floor((100 * unitsBuilt) / all)} %`;
  return h("span", { title: `${compact(unitsBuilt)} hours of metrics (or longer buckets) of ${compact(all)}`, text });
}

function state({ existing, unitsWaiting, timeLeftMs, building, error }: View): Node {
  if (error) return h("span", { class: "bad", text: error });
  if (existing === 0) return h("span", { class: "muted", text: "no such metric yet" });
  if (unitsWaiting === 0) return h("span", { class: "good", text: "complete" });
  const left = timeLeftMs === null ? "waiting" : `${rough(timeLeftMs)} left`;
  return h("span", { title: building ? `now ${building}` : undefined, text: left });
}

// A duration without its small parts: 3h, 17m.
function rough(ms: number): string {
  const unit = [86_400_000, 3_600_000, 60_000].find((one) => ms >= 2 * one) ?? 1000;
  return printDuration(Math.max(1, Math.round(ms / unit)) * unit);
}
