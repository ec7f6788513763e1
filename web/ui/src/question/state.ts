// What the page shows, as plain data. The whole of it stands in the URL (url.ts).
import type { Zone } from "../base/zone";

export interface Filter {
  tagk: string;
  type: string; // literal_or, wildcard, regexp, ...
  value: string;
  groupBy: boolean; // one line per value, in place of one line over all
}

export interface Downsample {
  interval: string; // "auto" = from the range and the width of the graph; else as OpenTSDB writes it
  aggregator: string;
  fill: string; // "none": absent spans stay absent
}

export interface Rate {
  counter: boolean; // a smaller value means that the counter rolled over or was reset
  counterMax: string; // digits; empty = 2^63 - 1
  resetValue: string; // digits; empty = off. Greater rates at a roll-over become 0
  dropResets: boolean; // leave such points out
}

export interface SubQuery {
  metric: string; // empty while nobody has chosen one
  aggregator: string;
  filters: Filter[];
  downsample: Downsample | null;
  rate: Rate | null;
  explicitTags: boolean; // only series with exactly the tags of the filters
  rightAxis: boolean;
  hidden: boolean; // kept in the form, not asked
}

// A query in PromQL.
export interface Expression {
  text: string; // blank until one is written
  rightAxis: boolean;
  hidden: boolean; // kept in the form, not asked
}

export type Language = "opentsdb" | "promql";

export type ViewId = "graph" | "table" | "json";

export interface State {
  language: Language;
  queries: SubQuery[]; // asked in OpenTSDB's language
  expressions: Expression[]; // asked in PromQL
  step: string; // of expressions: "auto" = from the range and the width of the graph; else a duration
  start: string; // "1h-ago", ms since 1970, or a date as OpenTSDB writes it
  end: string; // the same; empty = now
  zone: Zone;
  refreshSeconds: number; // 0 = only when asked
  view: ViewId;
  logScale: boolean;
  fromZero: boolean;
}

export function newRate(): Rate {
  return { counter: false, counterMax: "", resetValue: "", dropResets: false };
}

export function newSubQuery(metric = ""): SubQuery {
  return {
    metric,
    aggregator: "sum",
    filters: [],
    downsample: { interval: "auto", aggregator: "avg", fill: "none" },
    rate: null,
    explicitTags: false,
    rightAxis: false,
    hidden: false,
  };
}

export function newExpression(text = ""): Expression {
  return { text, rightAxis: false, hidden: false };
}

export function newState(): State {
  return {
    language: "opentsdb",
    queries: [newSubQuery()],
    expressions: [],
    step: "auto",
    start: "1h-ago",
    end: "",
    zone: "local",
    refreshSeconds: 0,
    view: "graph",
    logScale: false,
    fromZero: false,
  };
}

// What the queries of either language have in common.
export interface Asked {
  name: string; // empty: nothing to ask yet
  rightAxis: boolean;
  hidden: boolean;
}

// The queries of the language chosen, each in its place.
export function askedOf({ language, queries, expressions }: State): Asked[] {
  return language === "promql"
    ? expressions.map(({ text, ...look }) => ({ name: text.trim(), ...look }))
    : queries.map(({ metric, rightAxis, hidden }) => ({ name: metric, rightAxis, hidden }));
}

// The letter by which the page calls a query: A to Z, then A1, B1, ...
export function queryLetter(index: number): string {
  const round = Math.floor(index / 26);
  return String.fromCharCode(65 + (index % 26)) + (round ? String(round) : "");
}
