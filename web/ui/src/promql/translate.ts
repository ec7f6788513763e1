// A sub-query of OpenTSDB as an expression of PromQL, for those who change the language. Downsampling is left
// to the step.
import type { Filter, SubQuery } from "../question/state";
import { escapeRegexp, labelName, metricSelector } from "./cursor";

// Those that interpolate do as those that do not: PromQL takes the newest sample.
const kAggregations: Record<string, string> = {
  sum: "sum",
  zimsum: "sum",
  avg: "avg",
  min: "min",
  mimmin: "min",
  max: "max",
  mimmax: "max",
  count: "count",
  dev: "stddev",
};
const kRange = "5m"; // of rates

// OpenTSDB's regular expressions match any part of a value; those of PromQL match all of it.
function matcher({ tagk, type, value }: Filter): string {
  const made = (op: string, text: string): string => `${labelName(tagk)}${op}${JSON.stringify(text)}`;
  const anyCase = /^(not_)?i/.test(type);
  const prefix = anyCase ? "(?i)" : "";
  if (type.endsWith("wildcard")) {
    return value === "*" ? made("!=", "") : made("=~", prefix + value.split("*").map(escapeRegexp).join(".*"));
  }
  if (type === "regexp") return made("=~", `.*(?:${value}).*`);
  const not = type.startsWith("not_");
  const values = value.split("|");
  if (values.length === 1 && !anyCase) return made(not ? "!=" : "=", value);
  return made(not ? "!~" : "=~", prefix + `(?:${values.map(escapeRegexp).join("|")})`);
}

function selector(query: SubQuery): string {
  const plain = metricSelector(query.metric);
  const matchers = query.filters.map(matcher);
  if (matchers.length === 0) return plain;
  return plain.startsWith("{") ? `${plain.slice(0, -1)}, ${matchers.join(", ")}}` : `${plain}{${matchers.join(", ")}}`;
}

// Empty where the sub-query has no metric. Aggregations that PromQL does not have become each series.
export function translate(query: SubQuery): string {
  if (!query.metric) return "";
  const inner = query.rate ? `rate(${selector(query)}[${kRange}])` : selector(query);
  const percentile = /^p(\d\d)(\d?)$/.exec(query.aggregator);
  const aggregation = percentile ? "quantile" : kAggregations[query.aggregator];
  if (!aggregation) return inner;
  const split = [...new Set(query.filters.filter(({ groupBy }) => groupBy).map(({ tagk }) => labelName(tagk)))];
  const by = split.length ? ` by (${split.join(", ")}) ` : "";
  const first = percentile ? `0.${percentile[1]}${percentile[2]}, ` : "";
  return `${aggregation}${by}(${first}${inner})`;
}
