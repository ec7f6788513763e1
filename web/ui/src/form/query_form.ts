// The list of sub-queries in OpenTSDB's language.
import { newSubQuery, type SubQuery } from "../question/state";
import { CardList } from "./card_list";
import { QueryCard } from "./query_card";

export class QueryForm {
  readonly root: HTMLElement;
  private readonly list: CardList<SubQuery, QueryCard>;
  private aggregators: string[] = ["sum", "avg", "min", "max", "count", "none"];

  constructor(onChange: (queries: SubQuery[]) => void) {
    this.list = new CardList({
      addId: "add-query",
      addText: "Add query",
      fresh: (last) => {
        const query = newSubQuery();
        if (last?.downsample) query.downsample = { ...last.downsample };
        return query;
      },
      card: (query, index, alone, events) =>
        new QueryCard({ query, index, alone, aggregators: this.aggregators, ...events }),
      focus: (card) => card.focus(),
      onChange,
    });
    this.root = this.list.root;
  }

  setAggregators(names: string[]): void {
    this.aggregators = names;
    if (!this.list.focused) this.list.rebuild(); // else the next card has them
  }

  set(queries: SubQuery[]): void {
    this.list.set(queries);
  }
}
