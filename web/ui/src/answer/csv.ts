// The answer as comma-separated values: one row a time, one column a series.
import { exact } from "../base/format";
import type { Joined } from "./join";

function quoted(text: string): string {
  // A leading = + - @ would be run as a formula by spreadsheets.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function csvOf(joined: Joined, labels: string[]): string {
  const rows = [["time_ms", "time", ...labels.map(quoted)].join(",")];
  for (let i = 0; i < joined.times.length; i++) {
    const time = joined.times[i];
    const cells = joined.columns.map((column) => exact(column[i] ?? NaN));
    rows.push([String(time), new Date(time).toISOString(), ...cells].join(","));
  }
  return `${rows.join("\n")}\n`;
}
