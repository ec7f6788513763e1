// The metrics there are: searched by any part of their names, with numbers of series; of the chosen one the
// tags. The address is #/metrics, or #/metrics/<name> with one chosen.
import type { Page } from "../app/page";
import { field, h, replace, select } from "../base/dom";
import { count } from "../base/format";
import { isAbort } from "../server/api";
import { findMetricCounts, type MetricCount, type MetricCounts } from "../server/series_counts";
import { MetricDetails } from "./metric_details";

const kListMax = 300;
const kPauseMs = 120;
const kPollMs = 5000;

type Order = "name" | "series" | "grown";

const kOrders = [
  { value: "name", text: "name" },
  { value: "series", text: "most series" },
  { value: "grown", text: "most new series" },
];

export function metricAddress(metric: string): string {
  return `#/metrics/${encodeURIComponent(metric)}`;
}

function chosenMetric(hash: string): string {
  const name = /^#\/metrics\/(.*)$/.exec(hash)?.[1] ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a lone % typed by hand
  }
}

export class MetricsPage implements Page {
  readonly root: HTMLElement;
  readonly tools = null;
  private readonly search: HTMLInputElement;
  private readonly list = h("ul", { class: "metric-list" });
  private readonly summary = h("p", { class: "muted metric-summary", role: "status" });
  private readonly details = new MetricDetails();
  private order: Order = "name";
  private asking: AbortController | null = null;
  private timer = 0;
  private shown = ""; // the list as it stands there

  constructor() {
    this.search = h("input", { type: "search", id: "metric-search", placeholder: "any part of a name", spellcheck: "false", autocomplete: "off" });
    this.search.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.load(), kPauseMs);
    });
    const order = select(kOrders, this.order, (value) => {
      this.order = value as Order;
      void this.load();
    });
    this.root = h(
      "div",
      { class: "page metrics" },
      h(
        "section",
        { class: "panel metric-browser", "aria-label": "Metrics" },
        h("div", { class: "row metric-search" }, field("Search", this.search, "grow"), field("Order by", order)),
        this.summary,
        this.list,
      ),
      this.details.root,
    );
  }

  enter(): void {
    const metric = chosenMetric(location.hash);
    document.title = `${metric || "Metrics"} – Halite`;
    this.details.show(metric);
    this.mark(metric);
    if (this.asking === null || metric === "") void this.load();
  }

  leave(): void {
    this.asking?.abort();
    this.asking = null;
    this.details.leave();
    window.clearTimeout(this.timer);
  }

  private async load(): Promise<void> {
    window.clearTimeout(this.timer);
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    try {
      const wanted = { contains: this.search.value.trim(), max: kListMax, order: this.order };
      this.show(await findMetricCounts(wanted, asking.signal));
    } catch (error) {
      if (isAbort(error) || asking.signal.aborted) return;
      this.summary.textContent = error instanceof Error ? error.message : String(error);
      this.shown = "";
      replace(this.list);
    }
    this.timer = window.setTimeout(() => void this.loadWhenSeen(), kPollMs);
  }

  // New ones come, and counts may be some time old.
  private loadWhenSeen(): void {
    if (document.hidden) this.timer = window.setTimeout(() => this.loadWhenSeen(), kPollMs);
    else void this.load();
  }

  private show(found: MetricCounts): void {
    const all = `${count(found.metrics, "metric")} with ${count(found.series, "series")}`;
    const fit = this.search.value.trim() ? `${count(found.matching, "metric")} of ${all}` : all;
    const cut = found.matching > found.results.length ? `; the first ${found.results.length} are listed` : "";
    this.summary.textContent = fit + cut;
    const text = JSON.stringify(found.results);
    if (text === this.shown) return;
    this.shown = text;
    const chosen = chosenMetric(location.hash);
    const focused = (document.activeElement as HTMLElement | null)?.dataset.metric;
    const scrolled = this.list.scrollTop;
    replace(this.list, ...found.results.map((one) => this.item(one, chosen)));
    this.list.scrollTop = scrolled;
    if (focused) this.list.querySelector<HTMLElement>(`[data-metric="${CSS.escape(focused)}"]`)?.focus();
    if (found.results.length === 0) {
      const none = found.metrics === 0 ? "No data yet." : "No metric name contains this text.";
      replace(this.list, h("li", { class: "muted metric-none", text: none }));
    }
  }

  private item({ metric, series, grown }: MetricCount, chosen: string): HTMLElement {
    const growth = grown === 0 ? "" : `${grown > 0 ? "+" : "−"}${Math.abs(grown)}`;
    return h(
      "li",
      {},
      h(
        "a",
        {
          class: "metric-item",
          href: metricAddress(metric),
          title: metric,
          "data-metric": metric,
          "aria-current": metric === chosen ? "true" : undefined,
        },
        h("span", { class: "metric-name", text: metric }),
        growth ? h("span", { class: "metric-grown", text: growth, title: "New series in the last one to two hours" }) : null,
        h("span", { class: "metric-series", text: count(series, "series") }),
      ),
    );
  }

  private mark(chosen: string): void {
    for (const link of this.list.querySelectorAll<HTMLElement>(".metric-item")) {
      if (link.dataset.metric === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}
