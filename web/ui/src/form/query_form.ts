// The list of sub-queries: one card each, and the button for one more.
import { h, replace } from "../base/dom";
import { icon } from "../base/icons";
import { newSubQuery, type SubQuery } from "../question/state";
import { QueryCard } from "./query_card";

export class QueryForm {
  readonly root: HTMLElement;
  private readonly cards: HTMLElement;
  private queries: SubQuery[] = [];
  private shown = "";
  private aggregators: string[] = ["sum", "avg", "min", "max", "count", "none"];

  // onChange gets a list of its own; the form never changes it afterwards.
  constructor(private readonly onChange: (queries: SubQuery[]) => void) {
    this.cards = h("div", { class: "cards" });
    const add = h(
      "button",
      { type: "button", class: "button add-query", id: "add-query", on: { click: () => this.add() } },
      icon("plus"),
      "Add query",
    );
    this.root = h("div", { class: "query-form" }, this.cards, add);
  }

  setAggregators(names: string[]): void {
    this.aggregators = names;
    if (!this.cards.contains(document.activeElement)) this.rebuild(); // else the next card has them
  }

  // Shows these; where they already are what is shown, nothing moves and the focus stays.
  set(queries: SubQuery[]): void {
    const text = JSON.stringify(queries);
    if (text === this.shown) return;
    this.shown = text;
    this.queries = JSON.parse(text) as SubQuery[];
    this.rebuild();
  }

  focusMetric(index: number): void {
    const inputs = this.cards.querySelectorAll<HTMLInputElement>(".metric input");
    inputs[index]?.focus();
  }

  private rebuild(): void {
    const cards = this.queries.map(
      (query, index) =>
        new QueryCard({
          query,
          index,
          alone: this.queries.length === 1,
          aggregators: this.aggregators,
          onChange: () => this.changed(),
          onReplace: (other) => this.splice(index, 1, other),
          onDuplicate: () => this.splice(index + 1, 0, JSON.parse(JSON.stringify(query)) as SubQuery),
          onRemove: () => this.splice(index, 1),
        }).root,
    );
    replace(this.cards, ...cards);
  }

  private add(): void {
    const last = this.queries[this.queries.length - 1];
    const query = newSubQuery();
    if (last?.downsample) query.downsample = { ...last.downsample };
    this.splice(this.queries.length, 0, query);
    this.focusMetric(this.queries.length - 1);
  }

  private splice(index: number, remove: number, ...added: SubQuery[]): void {
    this.queries.splice(index, remove, ...added);
    if (this.queries.length === 0) this.queries.push(newSubQuery());
    this.rebuild();
    this.changed();
  }

  private changed(): void {
    this.shown = JSON.stringify(this.queries);
    this.onChange(JSON.parse(this.shown) as SubQuery[]);
  }
}
