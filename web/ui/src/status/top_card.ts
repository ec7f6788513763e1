// Where the series are: the metrics with the most, those that grow, and the tags with the most values.
import { h, replace } from "../base/dom";
import { clockText, compact, count } from "../base/format";
import { metricAddress } from "../metrics/metrics_page";
import type { KeyCounts, MetricCount, MetricCounts } from "../server/series_counts";
import { card, type Part } from "./parts";

interface Row {
  name: string;
  href: string | null;
  value: number;
  text: string;
}

export class TopCard implements Part {
  readonly root: HTMLElement;
  private readonly lists = h("div", { class: "tops" });
  private readonly about = h("p", { class: "muted" });

  constructor() {
    this.root = card("Series", "card-wide", this.about, this.lists);
  }

  show(most: MetricCounts, grown: MetricCounts, keys: KeyCounts): void {
    this.about.textContent = `${count(most.series, "series")} of ${count(most.metrics, "metric")}, counted at ${clockText(Math.floor(most.counted / 1000) * 1000, "local")}`;
    const since = clockText(Math.floor(grown.grownSince / 1000) * 1000, "local");
    const growing = grown.results.filter(({ grown: n }) => n > 0);
    const bySeries = (one: MetricCount): Row => ({ name: one.metric, href: metricAddress(one.metric), value: one.series, text: compact(one.series) });
    const byGrowth = (one: MetricCount): Row => ({ name: one.metric, href: metricAddress(one.metric), value: one.grown, text: `+${compact(one.grown)}` });
    replace(
      this.lists,
      top("Metrics by series", most.results.map(bySeries)),
      top(`New series since ${since}`, growing.map(byGrowth), "None."),
      top("Tags by values", keys.results.map(({ key, values }) => ({ name: key, href: null, value: values, text: compact(values) }))),
    );
  }
}

function top(title: string, rows: Row[], none = "No data yet."): HTMLElement {
  const most = rows.reduce((max, { value }) => Math.max(max, value), 1);
  const items = rows.map(({ name, href, value, text }) => {
    const bar = h("span", { class: "value-bar" });
    bar.style.width = `${Math.max(1, (100 * value) / most)}%`;
    const inside = [bar, h("span", { class: "value-name", text: name }), h("span", { class: "value-series", text })];
    return h("li", {}, href ? h("a", { class: "tag-value", href, title: name }, ...inside) : h("div", { class: "tag-value", title: name }, ...inside));
  });
  return h("div", { class: "top" }, h("h3", { text: title }), items.length ? h("ol", { class: "tag-values" }, ...items) : h("p", { class: "muted", text: none }));
}
