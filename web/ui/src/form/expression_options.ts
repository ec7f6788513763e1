// What may be put at the cursor of an expression: words of PromQL, metrics, labels, values.
import type { Option } from "../base/option_list";
import { labelName, metricSelector, type Cursor } from "../promql/cursor";
import { kDurations, kFunctions, kKeywords, type Word } from "../promql/functions";
import { labelNames, labelValues, metricFamilies, metricNames, type Family } from "../server/prometheus";

export interface ExpressionOption extends Option {
  insert: string;
}

const kNoteMax = 40;

export async function expressionOptions({ wanted, typed }: Cursor, signal: AbortSignal): Promise<ExpressionOption[]> {
  if (wanted.kind === "duration") return kDurations.filter((one) => one.startsWith(typed)).map((one) => plain(one));
  if (wanted.kind === "label") {
    return (await labelNames(wanted.selector, typed, signal)).map((name) => ({ value: name, insert: labelName(name) }));
  }
  if (wanted.kind === "value") {
    const values = await labelValues(wanted.label, wanted.selector, typed, signal);
    return values.map((value) => ({ value, insert: JSON.stringify(value) }));
  }
  if (wanted.kind === "metric") return metrics(typed, JSON.stringify, signal);
  return [...wordsLike(typed), ...(await metrics(typed, metricSelector, signal))];
}

function plain(value: string): ExpressionOption {
  return { value, insert: value };
}

function wordsLike(typed: string): ExpressionOption[] {
  const wanted = typed.toLowerCase();
  const fit = (words: Word[]): Word[] => words.filter(({ name }) => name.startsWith(wanted));
  return [
    ...fit(kFunctions).map(({ name, takes, note, experimental }) => ({
      value: `${name}(${takes})`,
      insert: `${name}(`,
      note: experimental ? "experimental" : cut(note),
      title: note,
    })),
    ...fit(kKeywords).map(({ name, note }) => ({ value: name, insert: `${name} `, note: cut(note), title: note })),
  ];
}

async function metrics(typed: string, insert: (name: string) => string, signal: AbortSignal): Promise<ExpressionOption[]> {
  const names = await metricNames(typed, signal);
  const families = await metricFamilies().catch(() => ({}) as Record<string, Family[]>); // decoration
  return names.map((name) => {
    const family = families[name]?.[0];
    return { value: name, insert: insert(name), note: family ? family.type : "metric", title: family?.help };
  });
}

function cut(text: string): string {
  return text.length > kNoteMax ? `${text.slice(0, kNoteMax - 1)}…` : text;
}
