// A sub-query as OpenTSDB writes it in m=...: sum:1m-avg:rate:sys.cpu{host=*}{dc=lga}
//
// The first braces group, the second only filter. The page writes "auto" for an interval that follows the
// range, and %XX for the characters the grammar keeps for itself (, = { } : %), so that every name survives.
import { newRate, newSubQuery, type Downsample, type Filter, type Rate, type SubQuery } from "./state";

export type Parsed = { query: SubQuery } | { error: string };

const kFilterTypes = [
  "literal_or",
  "iliteral_or",
  "not_literal_or",
  "not_iliteral_or",
  "wildcard",
  "iwildcard",
  "regexp",
];

function encode(text: string): string {
  return text.replace(/[,={}:%]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decode(text: string): string {
  return text.replace(/%(2C|3D|7B|7D|3A|25)/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
}

function printFilter(filter: Filter): string {
  const value = encode(filter.value);
  const plain =
    (filter.type === "literal_or" && !/[*()]/.test(filter.value)) ||
    (filter.type === "wildcard" && filter.value === "*");
  return `${encode(filter.tagk)}=${plain ? value : `${filter.type}(${value})`}`;
}

function printRate(rate: Rate): string {
  if (!rate.counter) return "rate";
  const parts = [rate.dropResets ? "dropcounter" : "counter"];
  if (rate.counterMax || rate.resetValue) parts.push(rate.counterMax);
  if (rate.resetValue) parts.push(rate.resetValue);
  return `rate{${parts.join(",")}}`;
}

export function printDownsample(downsample: Downsample, interval = downsample.interval): string {
  const fill = downsample.fill === "none" ? "" : `-${downsample.fill}`;
  return `${interval}-${downsample.aggregator}${fill}`;
}

export function printExpression(query: SubQuery): string {
  const parts = [query.aggregator];
  if (query.downsample) parts.push(printDownsample(query.downsample));
  if (query.rate) parts.push(printRate(query.rate));
  if (query.explicitTags) parts.push("explicit_tags");
  const grouping = query.filters.filter((f) => f.groupBy).map(printFilter);
  const others = query.filters.filter((f) => !f.groupBy).map(printFilter);
  let metric = encode(query.metric);
  if (grouping.length || others.length) metric += `{${grouping.join(",")}}`;
  if (others.length) metric += `{${others.join(",")}}`;
  parts.push(metric);
  return parts.join(":");
}

export function parseExpression(text: string): Parsed {
  const parts = splitOutsideBraces(text.trim());
  if (parts.length < 2) return { error: `"${text}" must be at least aggregator:metric, such as sum:sys.cpu.user` };
  const query = newSubQuery();
  query.downsample = null;
  query.aggregator = parts[0];
  for (const part of parts.slice(1, -1)) {
    const error = parsePart(part, query);
    if (error) return { error };
  }
  const last = parts[parts.length - 1];
  const shape = /^([^{}]*)(?:\{([^{}]*)\})?(?:\{([^{}]*)\})?$/.exec(last);
  if (!shape) return { error: `"${last}" must be metric{tag=value,...}{tag=value,...}` };
  query.metric = decode(shape[1]);
  for (const [braces, groupBy] of [
    [shape[2], true],
    [shape[3], false],
  ] as [string | undefined, boolean][]) {
    for (const item of (braces ?? "").split(",")) {
      if (!item.trim()) continue;
      const filter = parseFilter(item.trim(), groupBy);
      if (!filter) return { error: `"${item}" must be tag=value` };
      query.filters.push(filter);
    }
  }
  return { query };
}

function splitOutsideBraces(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "{") depth += 1;
    if (text[i] === "}") depth -= 1;
    if (text[i] === ":" && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

function parsePart(part: string, query: SubQuery): string | null {
  const lower = part.toLowerCase();
  if (lower.startsWith("rate")) {
    query.rate = parseRate(part);
  } else if (/^(\d|auto-)/.test(lower)) {
    const [interval, aggregator, fill] = part.split("-");
    if (!aggregator) return `"${part}" must be interval-function, such as 1m-avg`;
    query.downsample = { interval, aggregator, fill: fill || "none" };
  } else if (lower.startsWith("explicit_tags")) {
    query.explicitTags = true;
  } else {
    return `"${part}" must be rate, a downsample such as 1m-avg, or explicit_tags`;
  }
  return null;
}

function parseRate(part: string): Rate {
  const rate = newRate();
  const inner = /\{(.*)\}/.exec(part);
  if (!inner) return rate;
  const [kind, max, reset] = inner[1].split(",").map((s) => s.trim());
  rate.dropResets = kind.toLowerCase().startsWith("dropcounter");
  rate.counter = rate.dropResets || kind.toLowerCase().startsWith("counter");
  rate.counterMax = max ?? "";
  rate.resetValue = reset ?? "";
  return rate;
}

function parseFilter(item: string, groupBy: boolean): Filter | null {
  const at = item.indexOf("=");
  if (at <= 0 || at === item.length - 1) return null;
  const tagk = decode(item.slice(0, at));
  const text = item.slice(at + 1);
  const call = /^([a-z_]+)\((.*)\)$/i.exec(text);
  if (call && kFilterTypes.includes(call[1].toLowerCase())) {
    return { tagk, type: call[1].toLowerCase(), value: decode(call[2]), groupBy };
  }
  const value = decode(text);
  if (value === "*") return { tagk, type: "wildcard", value, groupBy };
  if (value.includes("*")) return { tagk, type: "iwildcard", value, groupBy };
  return { tagk, type: "literal_or", value, groupBy };
}
