// The state in the part of the URL after #, in the words of OpenTSDB's own page, so that its links
// keep working: #start=1h-ago&m=sum:1m-avg:sys.cpu{host=*}&o=axis x1y2&tz=UTC&autoreload=10
//
// Ours in addition: view=, and "hidden" among the words of o=. What has its default is left out.
import { zoneName, zoneOf } from "../base/zone";
import { parseExpression, printExpression } from "./metric_expression";
import { askedOf, newExpression, newState, type State, type ViewId } from "./state";

const kViews: ViewId[] = ["graph", "table", "json"];

// Braces and bars stay encoded: mail and chat programs cut links at them.
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(3A|2C|2F|3D)/g, (code) => decodeURIComponent(code));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % typed by hand
  }
}

export function printUrl(state: State): string {
  const parts: string[] = [`start=${encode(state.start)}`];
  if (state.end) parts.push(`end=${encode(state.end)}`);
  const promql = state.language === "promql";
  const asked = askedOf(state);
  const plain = asked.every(({ rightAxis, hidden }) => !rightAxis && !hidden);
  asked.forEach(({ name, rightAxis, hidden }, i) => {
    if (!name) return;
    parts.push(promql ? `promql=${encode(name)}` : `m=${encode(printExpression(state.queries[i]))}`);
    const words = [rightAxis ? "axis x1y2" : "", hidden ? "hidden" : ""].filter(Boolean);
    if (!plain) parts.push(`o=${encode(words.join(" "))}`);
  });
  if (promql && asked.every(({ name }) => !name)) parts.push("promql="); // the language alone
  if (promql && state.step !== "auto") parts.push(`step=${encode(state.step)}`);
  if (state.zone !== "local") parts.push(`tz=${encode(zoneName(state.zone))}`);
  if (state.refreshSeconds > 0) parts.push(`autoreload=${state.refreshSeconds}`);
  if (state.view !== "graph") parts.push(`view=${state.view}`);
  if (state.logScale) parts.push("ylog");
  if (state.fromZero) parts.push(`yrange=${encode("[0:]")}`);
  return `#${parts.join("&")}`;
}

export interface FromUrl {
  state: State;
  errors: string[]; // what could not be read, in words
}

export function parseUrl(hash: string): FromUrl {
  const state = newState();
  const errors: string[] = [];
  const options: string[] = [];
  state.queries = [];
  for (const pair of hash.replace(/^#/, "").split("&")) {
    const at = pair.indexOf("=");
    const key = at < 0 ? pair : pair.slice(0, at);
    const value = at < 0 ? "" : decode(pair.slice(at + 1));
    if (key === "start") state.start = value || state.start;
    else if (key === "end") state.end = value;
    else if (key === "m") {
      const parsed = parseExpression(value);
      if ("error" in parsed) errors.push(`m=${value}: ${parsed.error}`);
      else state.queries.push(parsed.query);
    } else if (key === "promql") {
      state.language = "promql";
      if (value.trim()) state.expressions.push(newExpression(value.trim()));
    } else if (key === "step") state.step = value || state.step;
    else if (key === "o") options.push(value);
    else if (key === "tz") state.zone = zoneOf(value);
    else if (key === "autoreload") state.refreshSeconds = Math.max(0, Math.floor(Number(value)) || 0);
    else if (key === "view") state.view = kViews.find((view) => view === value) ?? "graph";
    else if (key === "ylog") state.logScale = true;
    else if (key === "yrange") state.fromZero = value.startsWith("[0:");
  }
  const asked = state.language === "promql" ? state.expressions : state.queries;
  asked.forEach((query, i) => {
    query.rightAxis = /x1y2/.test(options[i] ?? "");
    query.hidden = /\bhidden\b/.test(options[i] ?? "");
  });
  return { state, errors };
}
