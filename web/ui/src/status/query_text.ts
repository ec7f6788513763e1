// A query as the server tells it, in a line: 1h of sum:1m-avg:sys.cpu.user{host=*}
import { printDuration } from "../question/time_range";

interface Echoed {
  aggregator?: string;
  metric?: string | null;
  tsuids?: string[] | null;
  downsample?: string | null;
  rate?: boolean;
  filters?: { tagk: string; filter: string; type: string; group_by: boolean }[];
}

function braces(filters: NonNullable<Echoed["filters"]>): string {
  const texts = filters.map(({ tagk, filter, type }) =>
    type === "literal_or" || (type === "wildcard" && filter === "*") ? `${tagk}=${filter}` : `${tagk}=${type}(${filter})`,
  );
  return `{${texts.join(",")}}`;
}

function subQueryText(query: Echoed): string {
  const parts = [query.aggregator ?? ""];
  if (query.downsample) parts.push(query.downsample);
  if (query.rate) parts.push("rate");
  const filters = query.filters ?? [];
  const grouping = filters.filter(({ group_by }) => group_by);
  const others = filters.filter(({ group_by }) => !group_by);
  let metric = query.metric ?? `${query.tsuids?.length ?? 0} tsuids`;
  if (filters.length) metric += braces(grouping);
  if (others.length) metric += braces(others);
  return [...parts, metric].join(":");
}

interface Query {
  start: string;
  end: string;
  queries: Record<string, unknown>[];
  promql?: string;
}

export function queryText(query: Query): string {
  const span = Number(query.end) - Number(query.start);
  const rounded = span >= 60_000 ? Math.round(span / 60_000) * 60_000 : span;
  const texts = query.promql ?? query.queries.map((one) => subQueryText(one as Echoed)).join("  ");
  return span > 0 ? `${printDuration(rounded)} of ${texts}` : texts;
}
