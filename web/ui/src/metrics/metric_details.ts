// One metric: its tag keys, their values and how many series have each; from here into a graph.
import { h, replace } from "../base/dom";
import { count } from "../base/format";
import { icon } from "../base/icons";
import { openingState } from "../question/opening";
import { newState, type Filter, type State } from "../question/state";
import { printUrl } from "../question/url";
import { isAbort } from "../server/api";
import { tagsOfMetric, type KeyCount, type MetricTags } from "../server/series_counts";
import { Preview } from "./preview";

const kValuesFirst = 10;
const kValuesMore = 500;
const kPreviewSeriesMax = 5000; // more are read only when somebody wants a graph
const kSearchFrom = 8; // with so many values there is a field to search them

// The metric as it is best seen, over an hour, with one filter or split.
function graphOf(metric: string, filter: Filter | null): string {
  const state: State = { ...openingState(metric), start: "1h-ago", refreshSeconds: newState().refreshSeconds };
  if (filter) state.queries[0].filters = [filter];
  return printUrl(state);
}

export class MetricDetails {
  readonly root = h("section", { class: "panel metric-details", "aria-label": "Tags of the metric" });
  private metric: string | null = null;
  private asking: AbortController | null = null;

  show(metric: string): void {
    if (metric === this.metric) return;
    this.metric = metric;
    this.asking?.abort();
    if (metric === "") {
      replace(this.root, h("p", { class: "muted metric-hint", text: "Choose a metric to see its tags." }));
      return;
    }
    void this.load(metric);
  }

  leave(): void {
    this.asking?.abort();
    this.metric = null; // counted anew when it is shown again
  }

  private async load(metric: string): Promise<void> {
    const asking = new AbortController();
    this.asking = asking;
    try {
      const tags = await tagsOfMetric({ metric, max: kValuesFirst }, asking.signal);
      if (!asking.signal.aborted) this.showTags(tags, asking.signal);
    } catch (error) {
      if (isAbort(error) || asking.signal.aborted) return;
      const text = error instanceof Error ? error.message : String(error);
      replace(this.root, this.head(metric, ""), h("p", { class: "warning", role: "alert", text }));
    }
  }

  private showTags(tags: MetricTags, signal: AbortSignal): void {
    const keys = [...tags.keys].sort((a, b) => b.values - a.values || (a.key < b.key ? -1 : 1));
    const about = `${count(tags.series, "series")}, ${count(keys.length, "tag key")}`;
    const preview = new Preview();
    if (tags.series <= kPreviewSeriesMax) void preview.show(tags.metric, signal);
    else preview.say("Too many series to draw automatically.");
    replace(
      this.root,
      this.head(tags.metric, about),
      preview.root,
      h("div", { class: "tag-keys" }, ...keys.map((key) => new TagKey(tags, key).root)),
    );
  }

  private head(metric: string, about: string): HTMLElement {
    return h(
      "div",
      { class: "metric-head" },
      h("h2", { text: metric }),
      h("p", { class: "muted", text: about }),
      h("a", { class: "button button-primary", id: "graph-it", href: graphOf(metric, null) }, "Draw it"),
    );
  }
}

// The values of one key, those with the most series first.
class TagKey {
  readonly root: HTMLElement;
  private readonly values = h("ul", { class: "tag-values" });
  private readonly more = h("button", { type: "button", class: "button button-small" });
  private asking: AbortController | null = null;
  private max = kValuesFirst;
  private text = "";

  constructor(
    private readonly tags: MetricTags,
    private readonly key: KeyCount,
  ) {
    const split: Filter = { tagk: key.key, type: "wildcard", value: "*", groupBy: true };
    const all = tags.series === key.series ? "" : `, on ${count(key.series, "series")}`;
    this.more.addEventListener("click", () => {
      this.max = kValuesMore;
      void this.load();
    });
    this.root = h(
      "section",
      { class: "tag-key", "aria-label": `Tag ${key.key}` },
      h(
        "div",
        { class: "tag-key-head" },
        h("h3", { text: key.key }),
        h("span", { class: "muted", text: count(key.values, "value") + all }),
        h("a", { class: "tag-split", href: graphOf(tags.metric, split), title: `Draw one line for each ${key.key}` }, "split by it", icon("right")),
      ),
      key.values > kSearchFrom ? this.searchField() : null,
      this.values,
      this.more,
    );
    this.show(key);
  }

  private searchField(): HTMLElement {
    const input = h("input", {
      type: "search",
      class: "tag-search",
      placeholder: `search ${this.key.key}`,
      "aria-label": `Search values of ${this.key.key}`,
      spellcheck: "false",
    });
    input.addEventListener("input", () => {
      this.text = input.value.trim();
      void this.load();
    });
    return input;
  }

  private async load(): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    const wanted = { metric: this.tags.metric, key: this.key.key, contains: this.text, max: this.max };
    try {
      const { keys } = await tagsOfMetric(wanted, asking.signal);
      if (keys[0] && !asking.signal.aborted) this.show(keys[0]);
    } catch (error) {
      if (isAbort(error)) return;
      replace(this.values, h("li", { class: "warning", text: error instanceof Error ? error.message : String(error) }));
    }
  }

  private show({ top, matching }: KeyCount): void {
    const most = top.reduce((n, { series }) => Math.max(n, series), 1);
    const items = top.map(({ value, series }) => {
      const bar = h("span", { class: "value-bar" });
      bar.style.width = `${Math.max(1, (100 * series) / most)}%`;
      const filter: Filter = { tagk: this.key.key, type: "literal_or", value, groupBy: false };
      return h(
        "li",
        {},
        h(
          "a",
          { class: "tag-value", href: graphOf(this.tags.metric, filter), title: `Draw ${this.key.key}=${value}` },
          bar,
          h("span", { class: "value-name", text: value }),
          h("span", { class: "value-series", text: count(series, "series") }),
        ),
      );
    });
    replace(this.values, ...items);
    if (items.length === 0) replace(this.values, h("li", { class: "muted", text: "No value contains this text." }));
    const left = matching - top.length;
    this.more.hidden = left <= 0 || this.max === kValuesMore;
    this.more.textContent = `Show ${Math.min(left, kValuesMore - kValuesFirst)} more`;
  }
}
