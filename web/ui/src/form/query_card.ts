// One sub-query: metric, aggregator, tags, downsample, rate, and the whole of it as text.
import { Combobox } from "../base/combobox";
import { field, freshId, h, select } from "../base/dom";
import { parseExpression, printExpression } from "../question/metric_expression";
import { rateAfter } from "../question/opening";
import { queryLetter, type SubQuery } from "../question/state";
import { findMetrics, tagsOf } from "../server/names";
import type { CardEvents } from "./card_list";
import { axisField, cardHead } from "./card_parts";
import { downsampleFields, rateFields, type Fields } from "./operators";
import { TagFields } from "./tag_fields";

export interface CardOptions extends CardEvents<SubQuery> {
  query: SubQuery; // changed in place, then onChange
  index: number;
  alone: boolean; // the only card: it cannot be removed
  aggregators: string[];
}

const kAggregatorNotes: Record<string, string> = {
  sum: "sum of the series",
  avg: "average of the series",
  min: "smallest",
  max: "largest",
  count: "how many",
  none: "no aggregation, each series",
};

export class QueryCard {
  readonly root: HTMLElement;
  private readonly tags: TagFields;
  private readonly rate: Fields;
  private readonly expression: HTMLInputElement;
  private readonly problem: HTMLElement;
  private metric: HTMLInputElement | null = null;

  constructor(private readonly options: CardOptions) {
    const { query } = options;
    this.problem = h("p", { class: "problem", role: "alert", id: freshId("problem") });
    this.problem.hidden = true;
    this.expression = this.expressionInput();
    this.tags = new TagFields(query, () => this.changed());
    this.rate = rateFields(query, () => this.changed());
    const letter = queryLetter(options.index);
    this.root = h(
      "section",
      { class: `card${query.hidden ? " card-hidden" : ""}`, "aria-label": `Query ${letter}` },
      this.head(letter),
      this.tags.root,
      h("div", { class: "row" }, this.aggregatorField(), axisField(query, () => this.changed())),
      downsampleFields(query, () => this.changed()),
      this.rate.root,
      h("div", { class: "expression" }, field("As text", this.expression), this.problem),
    );
  }

  private head(letter: string): HTMLElement {
    const { query } = this.options;
    const metric = new Combobox({
      value: query.metric,
      placeholder: "Type to search, e.g. cpu",
      emptyText: "No metric name contains this text",
      source: async (text, signal) => (await findMetrics(text, signal)).map(({ name, note }) => ({ value: name, note })),
      onCommit: (value) => void this.adopt(value),
    });
    this.metric = metric.input;
    const body = field("Metric", metric.input, "metric", metric.root);
    return cardHead({ ...this.options, letter, onChange: () => this.changed() }, body);
  }

  focus(): void {
    this.metric?.focus();
  }

  // Another metric has other tags: filters on tags that it does not have would only find nothing.
  private async adopt(metric: string): Promise<void> {
    const { query } = this.options;
    query.rate = rateAfter(query.metric, metric, query.rate);
    query.metric = metric;
    this.rate.show();
    if (metric && query.filters.length > 0) {
      const known = await tagsOf(metric).catch(() => null); // unknown: the filters stay
      if (query.metric !== metric) return;
      if (known && known.keys.size > 0) {
        query.filters = query.filters.filter((filter) => known.keys.has(filter.tagk));
      }
    }
    this.tags.reload();
    this.changed();
  }

  private aggregatorField(): HTMLElement {
    const { query, aggregators } = this.options;
    const choices = aggregators.map((value) => ({
      value,
      text: kAggregatorNotes[value] ? `${value} – ${kAggregatorNotes[value]}` : value,
    }));
    const control = select(choices, query.aggregator, (value) => {
      query.aggregator = value;
      this.changed();
    });
    return field("Aggregate by", control, "grow");
  }

  // Old hands type faster than they click.
  private expressionInput(): HTMLInputElement {
    const input = h("input", {
      type: "text",
      class: "mono",
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      "aria-describedby": this.problem.id,
    });
    input.value = this.options.query.metric ? printExpression(this.options.query) : "";
    input.addEventListener("change", () => {
      const parsed = parseExpression(input.value);
      const error = "error" in parsed ? parsed.error : "";
      this.problem.textContent = error;
      this.problem.hidden = error === "";
      input.setAttribute("aria-invalid", String(error !== ""));
      if ("query" in parsed) {
        const { rightAxis, hidden } = this.options.query;
        this.options.onReplace({ ...parsed.query, rightAxis, hidden });
      }
    });
    return input;
  }

  private changed(): void {
    const { query } = this.options;
    this.expression.value = query.metric ? printExpression(query) : "";
    this.problem.hidden = true;
    this.options.onChange();
  }
}
