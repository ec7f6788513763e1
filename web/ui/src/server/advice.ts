// What to do about an error, in one sentence: the server says what is wrong, this adds the way out.
import { ApiError } from "./api";

const kAdvice: [RegExp, string][] = [
  [/^invalid parameter "query"|\d+:\d+: parse error/, ""], // the form marks the place
  [/No such name for 'metrics'/, "Metric names are case-sensitive. Choose one from the list under Metric."],
  [/No such name for 'tagk'/, "No series has this tag. The chips under Split by show the existing tags."],
  [/No such name for 'tagv'/, "No series has this tag value. Clear the field to see the existing values."],
  [/fetch more than|maximum amount|limit/i, "Use a shorter time range, more filters, or a longer downsample interval."],
  [/No such aggregation function/, "Choose the function from its list."],
  [/downsampl|duration/i, "An interval is a number and a unit: 30s, 1m, 5m, 1h, 1d."],
  [/regex|pattern|parenthes/i, "Check the regular expression. It uses RE2 syntax, without look-around and back-references."],
  [/answer is incomplete/, "The server stopped in the middle of the answer because it restarted or reached a limit. Try again, or use a shorter time range."],
];

export function adviceFor(error: ApiError): string {
  if (error.status === 0) return "Is the server still running, and can this machine reach it? The page tries again when you press Refresh.";
  for (const [pattern, advice] of kAdvice) {
    if (pattern.test(error.message) || pattern.test(error.details)) return advice;
  }
  if (error.status === 401 || error.status === 403) return "The server requires the role read for this.";
  if (error.status === 408 || error.status === 504) return "The query took too long. Use a shorter time range or fewer series.";
  if (error.status === 503 || error.status === 429) return "The server is busy. Wait a moment, then refresh.";
  if (error.status >= 500) return "The server failed. See its log for details.";
  return "";
}
