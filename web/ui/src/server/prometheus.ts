// What may be typed into an expression of PromQL: metrics, labels, values. What was read of metrics' types is
// remembered for half a minute.
import { escapeRegexp } from "../promql/cursor";
import { getJson } from "./api";

const kOptionsMax = 200;
const kFamiliesMax = 10_000;
const kKeepMs = 30_000;

export interface Family {
  type: string; // counter, gauge, histogram, summary, unknown
  help: string;
}

type Families = Record<string, Family[]>;

let families: { at: number; value: Promise<Families> } | null = null;

async function ask<T>(page: string, parameters: [string, string][], signal?: AbortSignal): Promise<T> {
  const reply = await getJson<{ data: T }>(`prometheus/api/v1/${page}?${new URLSearchParams(parameters)}`, signal);
  return reply.data;
}

// The selector with one more matcher, which finds what contains the text in any case.
function narrowed(selector: string | null, label: string, text: string): string {
  const matcher = text ? `=~${JSON.stringify(`(?i).*${escapeRegexp(text)}.*`)}` : '!=""';
  return `{${selector ? `${selector.slice(1, -1)},` : ""}${JSON.stringify(label)}${matcher}}`;
}

// A label as a part of an address: U__a_2e_b for "a.b".
function labelPath(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name)) return name;
  const escaped = [...name.replace(/_/g, "__")].map((c) => (/\w/.test(c) ? c : `_${c.codePointAt(0)?.toString(16)}_`));
  return encodeURIComponent(`U__${escaped.join("")}`);
}

// Those that begin with the text come first.
function byText(names: string[], text: string): string[] {
  const wanted = text.toLowerCase();
  const begins = (name: string): boolean => name.toLowerCase().startsWith(wanted);
  return [...names.filter(begins), ...names.filter((name) => !begins(name))];
}

export async function labelValues(label: string, selector: string | null, text: string, signal: AbortSignal): Promise<string[]> {
  const parameters: [string, string][] = [
    ["match[]", narrowed(selector, label, text)],
    ["limit", String(kOptionsMax)],
  ];
  return byText(await ask<string[]>(`label/${labelPath(label)}/values`, parameters, signal), text);
}

export function metricNames(text: string, signal: AbortSignal): Promise<string[]> {
  return labelValues("__name__", null, text, signal);
}

export async function labelNames(selector: string | null, text: string, signal: AbortSignal): Promise<string[]> {
  const names = await ask<string[]>("labels", selector ? [["match[]", selector]] : [], signal);
  const wanted = text.toLowerCase();
  const fit = names.filter((name) => name !== "__name__" && name.toLowerCase().includes(wanted));
  return byText(fit, text).slice(0, kOptionsMax);
}

// What is known of metrics besides their series.
export function metricFamilies(): Promise<Families> {
  const now = Date.now();
  if (families && now - families.at < kKeepMs) return families.value;
  const value = ask<Families>("metadata", [
    ["limit", String(kFamiliesMax)],
    ["limit_per_metric", "1"],
  ]);
  families = { at: now, value };
  value.catch(() => (families = null)); // the next asker tries again
  return value;
}
