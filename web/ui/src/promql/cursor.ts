// What may stand at the cursor of an expression in PromQL: read from the text before it, which need not be
// complete.
import { kFunctions, kKeywords } from "./functions";

export type Wanted =
  | { kind: "expression" } // a metric, a function, a keyword
  | { kind: "metric" } // its name in quotes, within braces
  | { kind: "label"; selector: string | null } // of the series that match; null: of any
  | { kind: "value"; label: string; selector: string | null }
  | { kind: "duration" };

export interface Cursor {
  wanted: Wanted;
  typed: string; // of the word or string that is begun
  from: number; // what is chosen replaces the text from here
  to: number; // to here
}

interface Token {
  text: string;
  from: number;
  to: number;
  kind: "word" | "string" | "open" | "comment" | "number" | "mark"; // open: a string without its end
}

const kMatchers = ["=", "!=", "=~", "!~"];
const kGrouping = ["by", "without", "on", "ignoring", "group_left", "group_right"];
const kNoMetrics = new Set([...kKeywords, ...kFunctions].map(({ name }) => name).concat("inf", "nan"));

const kToken = /(#[^\n\r]*)|([A-Za-z_:][\w:.]*)|([0-9][\w.]*)|=~|!~|!=|==|<=|>=|\S/y;
const kStrings: Record<string, RegExp> = {
  '"': /"(?:[^"\\]|\\.)*(")?/sy,
  "'": /'(?:[^'\\]|\\.)*(')?/sy,
  "`": /`[^`]*(`)?/y,
};

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const strings = kStrings[text[at]];
    const shape = strings ?? kToken;
    shape.lastIndex = at;
    const found = shape.exec(text);
    if (!found) {
      at += 1; // space
      continue;
    }
    const [all, first, word, number] = found;
    const kind = strings ? (first ? "string" : "open") : first ? "comment" : word ? "word" : number ? "number" : "mark";
    tokens.push({ text: all, from: at, to: at + all.length, kind });
    at += all.length;
  }
  return tokens;
}

// The places in `tokens` of the brackets that are still open.
function openBrackets(tokens: Token[]): number[] {
  const open: number[] = [];
  tokens.forEach(({ kind, text }, i) => {
    if (kind !== "mark") return;
    if ("{([".includes(text)) open.push(i);
    else if ("})]".includes(text)) open.pop();
  });
  return open;
}

// Null: nothing can be offered.
export function cursorAt(text: string, at: number): Cursor | null {
  const tokens = tokensOf(text.slice(0, at));
  const last = tokens[tokens.length - 1];
  const touches = last?.to === at;
  if (last?.kind === "comment") return null;
  const open = openBrackets(tokens);
  const bracket = open.length ? open[open.length - 1] : -1;
  const inside = bracket < 0 ? "" : tokens[bracket].text;
  const begun = last?.kind === "open" || (touches && (last.kind === "word" || last.kind === "number"));
  const before = begun ? tokens.slice(0, -1) : tokens;
  const made = (wanted: Wanted): Cursor => {
    if (!begun) return { wanted, typed: "", from: at, to: at };
    const quoted = last.kind === "open";
    const to = quoted && text[at] === last.text[0] ? at + 1 : at;
    return { wanted, typed: quoted ? last.text.slice(1) : last.text, from: last.from, to };
  };
  if (inside === "[") return made({ kind: "duration" });
  if (begun && last.kind === "number") return null;
  if (inside === "{") {
    const wanted = withinBraces(before, bracket, last?.kind === "open");
    return wanted && made(wanted);
  }
  if (last?.kind === "open") return null;
  if (inside === "(" && kGrouping.includes(tokens[bracket - 1]?.text.toLowerCase())) {
    return made({ kind: "label", selector: selectorOf(metricsIn(text)) });
  }
  return made({ kind: "expression" });
}

// `tokens` are those before the word that is begun.
function withinBraces(tokens: Token[], brace: number, quoted: boolean): Wanted | null {
  const last = tokens[tokens.length - 1];
  if (kMatchers.includes(last.text)) {
    const label = tokens[tokens.length - 2];
    if (label?.kind !== "word" && label?.kind !== "string") return null;
    return { kind: "value", label: unquoted(label), selector: selectorBefore(tokens.slice(0, -2), brace) };
  }
  if (last.text !== "{" && last.text !== ",") return null;
  return quoted ? { kind: "metric" } : { kind: "label", selector: selectorBefore(tokens, brace) };
}

// The metric before the braces and the matchers that are complete, as one selector.
function selectorBefore(tokens: Token[], brace: number): string | null {
  const name = tokens[brace - 1];
  const parts = name?.kind === "word" && name.to === tokens[brace].from ? [`__name__=${JSON.stringify(name.text)}`] : [];
  for (let i = brace + 1; i < tokens.length; i++) {
    if (tokens[i].kind !== "word" && tokens[i].kind !== "string") continue;
    if (kMatchers.includes(tokens[i + 1]?.text) && tokens[i + 2]?.kind === "string") {
      parts.push(tokens.slice(i, i + 3).map((token) => token.text).join(""));
      i += 2;
    } else if (tokens[i].kind === "string") {
      parts.push(`__name__=${tokens[i].text}`);
    }
  }
  return parts.length ? `{${parts.join(",")}}` : null;
}

function unquoted({ kind, text }: Token): string {
  return kind === "string" ? text.slice(1, -1).replace(/\\(.)/gs, "$1") : text;
}

// The metrics that an expression names.
export function metricsIn(text: string): string[] {
  const tokens = tokensOf(text);
  const found = new Set<string>();
  tokens.forEach((token, i) => {
    const open = openBrackets(tokens.slice(0, i));
    const inside = open.length ? tokens[open[open.length - 1]].text : "";
    const before = open.length ? tokens[open[open.length - 1] - 1]?.text.toLowerCase() : "";
    const alone = ["{", ","].includes(tokens[i - 1]?.text) && [",", "}"].includes(tokens[i + 1]?.text);
    if (token.kind === "string" && inside === "{" && alone) found.add(unquoted(token));
    if (token.kind !== "word" || inside === "{" || inside === "[") return;
    if (inside === "(" && kGrouping.includes(before ?? "")) return;
    if (tokens[i + 1]?.text === "(" || kNoMetrics.has(token.text.toLowerCase())) return;
    found.add(token.text);
  });
  return [...found];
}

function selectorOf(metrics: string[]): string | null {
  if (metrics.length === 0) return null;
  if (metrics.length === 1) return `{__name__=${JSON.stringify(metrics[0])}}`;
  return `{__name__=~${JSON.stringify(metrics.map(escapeRegexp).join("|"))}}`;
}

export function escapeRegexp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

// A metric as a selector: up, or {"sys.cpu.user"} where the name holds more than PromQL's names do.
export function metricSelector(name: string): string {
  return /^[A-Za-z_:][\w:]*$/.test(name) && !kNoMetrics.has(name.toLowerCase()) ? name : `{${JSON.stringify(name)}}`;
}

export function labelName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
