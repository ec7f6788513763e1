// A list of queries in a form: one card each, and the button for one more.
import { h, replace } from "../base/dom";
import { icon } from "../base/icons";

export interface Card {
  readonly root: HTMLElement;
}

export interface CardEvents<T> {
  onChange(): void; // the query that the card was made for has changed
  onReplace(query: T): void;
  onDuplicate(): void;
  onRemove(): void;
}

export interface CardListOptions<T, C extends Card> {
  addId: string;
  addText: string;
  fresh(last: T | undefined): T;
  card(query: T, index: number, alone: boolean, events: CardEvents<T>): C;
  focus(card: C): void;
  onChange(queries: T[]): void; // gets a list of its own; the form never changes it afterwards
}

export class CardList<T, C extends Card> {
  readonly root: HTMLElement;
  cards: C[] = [];
  private readonly host = h("div", { class: "cards" });
  private queries: T[] = [];
  private shown = "";

  constructor(private readonly options: CardListOptions<T, C>) {
    const add = h(
      "button",
      { type: "button", class: "button add-query", id: options.addId, on: { click: () => this.add() } },
      icon("plus"),
      options.addText,
    );
    this.root = h("div", { class: "query-form" }, this.host, add);
  }

  // Shows these; where they already are what is shown, nothing moves and the focus stays.
  set(queries: T[]): void {
    const text = JSON.stringify(queries);
    if (text === this.shown) return;
    this.shown = text;
    this.queries = JSON.parse(text) as T[];
    this.rebuild();
  }

  get focused(): boolean {
    return this.host.contains(document.activeElement);
  }

  rebuild(): void {
    this.cards = this.queries.map((query, index) =>
      this.options.card(query, index, this.queries.length === 1, {
        onChange: () => this.changed(),
        onReplace: (other) => this.splice(index, 1, other),
        onDuplicate: () => this.splice(index + 1, 0, JSON.parse(JSON.stringify(query)) as T),
        onRemove: () => this.splice(index, 1),
      }),
    );
    replace(this.host, ...this.cards.map((card) => card.root));
  }

  private add(): void {
    this.splice(this.queries.length, 0, this.options.fresh(this.queries[this.queries.length - 1]));
    this.options.focus(this.cards[this.cards.length - 1]);
  }

  private splice(index: number, remove: number, ...added: T[]): void {
    this.queries.splice(index, remove, ...added);
    if (this.queries.length === 0) this.queries.push(this.options.fresh(undefined));
    this.rebuild();
    this.changed();
  }

  private changed(): void {
    this.shown = JSON.stringify(this.queries);
    this.options.onChange(JSON.parse(this.shown) as T[]);
  }
}
