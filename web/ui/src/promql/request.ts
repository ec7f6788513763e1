// State -> the parameters of /prometheus/api/v1/query_range, and the same as a curl command.
import type { State } from "../question/state";
import { autoInterval, parseDuration, type Range } from "../question/time_range";
import { shellQuoted } from "../question/question";

export interface RangeRequest {
  asked: number; // the place in State.expressions
  parameters: [string, string][];
}

// The step as text ("30s") and in ms; null where the page cannot read it, so that the server says why.
export function stepOf(state: State, range: Range, widthPx: number): { text: string; ms: number | null } {
  const text = state.step === "auto" ? (autoInterval(range, widthPx) ?? "1s") : state.step;
  return { text, ms: parseDuration(text) };
}

function seconds(ms: number): string {
  return String(ms / 1000);
}

// Of each expression that is asked. Times are multiples of the step, so that a refresh moves no point.
export function rangeRequests(state: State, range: Range, widthPx: number): RangeRequest[] {
  const step = stepOf(state, range, widthPx);
  const aligned = (ms: number): string => seconds(step.ms ? Math.floor(ms / step.ms) * step.ms : Math.floor(ms));
  return state.expressions.flatMap(({ text, hidden }, asked) => {
    const query = text.trim();
    if (!query || hidden) return [];
    const parameters: [string, string][] = [
      ["query", query],
      ["start", aligned(range.start)],
      ["end", aligned(range.end)],
      ["step", step.ms ? seconds(step.ms) : step.text],
    ];
    return [{ asked, parameters }];
  });
}

// For people: one command an expression.
export function curlRange(url: string, requests: RangeRequest[]): string {
  return requests
    .map(({ parameters }) => {
      const data = parameters.map(([name, value]) => `--data-urlencode ${shellQuoted(`${name}=${value}`)}`);
      return `curl -sS ${shellQuoted(url)} ${data.join(" ")}`;
    })
    .join("\n");
}
