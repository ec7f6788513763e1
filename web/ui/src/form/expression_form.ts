// The list of expressions in PromQL, and the step that all of them share.
import { field, h, replace, select } from "../base/dom";
import { newExpression, type Expression } from "../question/state";
import { CardList } from "./card_list";
import { ExpressionCard } from "./expression_card";

const kSteps = ["auto", "1s", "5s", "10s", "15s", "30s", "1m", "5m", "15m", "1h", "6h", "1d"];

export interface ExpressionChange {
  expressions?: Expression[];
  step?: string;
}

export class ExpressionForm {
  readonly root: HTMLElement;
  private readonly list: CardList<Expression, ExpressionCard>;
  private readonly stepHost = h("div");

  constructor(private readonly onChange: (change: ExpressionChange) => void) {
    this.list = new CardList({
      addId: "add-expression",
      addText: "Add expression",
      fresh: () => newExpression(),
      card: (query, index, alone, events) => new ExpressionCard({ query, index, alone, ...events }),
      focus: (card) => card.focus(),
      onChange: (expressions) => onChange({ expressions }),
    });
    this.root = h("div", { class: "query-form" }, this.stepHost, this.list.root);
  }

  set(expressions: Expression[], step: string): void {
    this.list.set(expressions);
    const choices = kSteps.map((value) => ({ value, text: value === "auto" ? "auto, by the range" : value }));
    const control = select(choices, step, (value) => this.onChange({ step: value }));
    control.id = "step";
    if (document.activeElement?.id !== control.id) replace(this.stepHost, field("Step", control, "inline"));
  }

  // Where the server names a place in the expression, it is marked. Null: in none of them.
  showError(index: number | null, message: string): void {
    this.list.cards.forEach((card, i) => card.showError(i === index ? message : ""));
  }
}
