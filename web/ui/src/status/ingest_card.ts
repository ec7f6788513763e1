// What comes in: points a second, by protocol; what was refused, why, and examples of it.
import { h, replace } from "../base/dom";
import { clockText, compact, count } from "../base/format";
import type { CrowdedMetric, Numbers, RefusedPoint } from "../server/status";
import { card, table, type Part } from "./parts";
import { spark, type SparkPoint } from "../base/spark";

const kPoints = "ingest.points_total";
const kRefused = "ingest.points_refused_total";
const kSparkMax = 400;
const kSamplesMax = 20;

const kReasons: Record<string, string> = {
  illegal_argument: "invalid name, tag or time",
  invalid_value: "value is not a number",
  unknown_name: "unknown name, and creating names is off",
  throttled: "the store was overloaded",
  timeout: "timeout",
  no_such_rollup: "rollup is not configured",
  storage: "the store refused it",
};

function rateText(rate: number | null): string {
  return rate === null ? "–" : compact(Number(rate.toPrecision(3)), 3);
}

export class IngestCard implements Part {
  readonly root: HTMLElement;
  private readonly now = h("p", { class: "big" });
  private readonly line = h("div", { class: "spark-host" });
  private readonly ways = h("p", { class: "muted" });
  private readonly refused = h("div", { class: "refused" });
  private points: SparkPoint[] = [];

  constructor() {
    this.root = card("Incoming points", "card-wide", h("div", { class: "ingest" }, h("div", {}, this.now, this.ways), this.line), this.refused);
  }

  // What the server stored of its own rate before the page was opened.
  setPast(points: SparkPoint[]): void {
    this.points = [...points, ...this.points].slice(-kSparkMax);
  }

  show(numbers: Numbers, before: Numbers | null, samples: RefusedPoint[], crowded: CrowdedMetric[]): void {
    const rate = numbers.rate(before, kPoints);
    if (rate !== null) this.points = [...this.points, [numbers.time, rate] as SparkPoint].slice(-kSparkMax);
    replace(this.now, h("b", { text: rateText(rate) }), " points per second");
    const ways = [...numbers.by(kPoints, "protocol")].sort((a, b) => b[1] - a[1]);
    this.ways.textContent = `since start-up: ${ways.map(([name, n]) => `${name} ${compact(n)}`).join(" · ")}`;
    this.ways.title = "Accepted points, by protocol";
    replace(this.line, spark(this.points, "Points per second over the last minutes"));
    this.showRefused(numbers, samples, crowded);
  }

  private showRefused(numbers: Numbers, samples: RefusedPoint[], crowded: CrowdedMetric[]): void {
    const reasons = [...numbers.by(kRefused, "reason")].filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
    if (reasons.length === 0) {
      replace(this.refused, h("p", { class: "good" }, "No points refused since start-up."));
      return;
    }
    const rows = reasons.map(([reason, n]) => [kReasons[reason] ?? reason, count(n, "point")]);
    const open = this.refused.querySelector("details")?.open ?? true;
    const details = h("details", {}, h("summary", { text: `The last ${Math.min(samples.length, kSamplesMax)} refused points` }), samplesTable(samples));
    details.open = open;
    replace(this.refused, h("h3", { text: "Refused" }), table("Refused points by reason", [{ text: "Reason" }, { text: "Since start-up", number: true }], rows), crowdedTable(crowded), samples.length ? details : null);
  }
}

function crowdedTable(crowded: CrowdedMetric[]): HTMLElement | null {
  if (crowded.length === 0) return null;
  const title = "Metrics with too many new series";
  return table(title, [{ text: title, long: true }, { text: "Refused points in this hour and the last hour", number: true }], crowded.map(({ metric, refused }) => [metric, count(refused, "point")]));
}

function samplesTable(samples: RefusedPoint[]): HTMLElement {
  const rows = samples
    .slice(0, kSamplesMax)
    .map(({ time, protocol, error, point }) => [
      clockText(Math.floor(time / 1000) * 1000, "local"),
      protocol,
      error,
      h("code", { text: point }),
    ]);
  return table("Samples of refused points", [{ text: "Time" }, { text: "By" }, { text: "Why", long: true }, { text: "What was sent", long: true }], rows);
}
