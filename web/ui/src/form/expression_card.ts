// One expression of PromQL with its axis.
import { field, h } from "../base/dom";
import { placeOf } from "../promql/place";
import { queryLetter, type Expression } from "../question/state";
import type { CardEvents } from "./card_list";
import { axisField, cardHead } from "./card_parts";
import { ExpressionField } from "./expression_field";

export interface ExpressionCardOptions extends CardEvents<Expression> {
  query: Expression; // changed in place, then onChange
  index: number;
  alone: boolean; // the only card: it cannot be removed
}

export class ExpressionCard {
  readonly root: HTMLElement;
  private readonly field: ExpressionField;

  constructor(options: ExpressionCardOptions) {
    const { query, index, onChange } = options;
    const letter = queryLetter(index);
    this.field = new ExpressionField(query.text, (text) => {
      query.text = text;
      onChange();
    });
    this.root = h(
      "section",
      { class: `card${query.hidden ? " card-hidden" : ""}`, "aria-label": `Query ${letter}` },
      cardHead({ ...options, letter }, axisField(query, onChange, "inline")),
      field("PromQL expression", this.field.input, "", this.field.root),
    );
  }

  focus(): void {
    this.field.input.focus();
  }

  // Marks the place that the message of an error names; "" takes the mark away.
  showError(message: string): void {
    this.field.mark(placeOf(message, this.field.input.value));
  }
}
