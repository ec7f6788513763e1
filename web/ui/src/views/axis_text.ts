// What stands along the axes.
import { compact, dateText, two } from "../base/format";
import { timeParts, type Zone } from "../base/zone";

const kMonths = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const kDayMs = 86_400_000;

// Texts for ticks `stepMs` apart; the date stands below the first tick and wherever it changes.
export function timeTicks(ticks: number[], stepMs: number, zone: Zone): string[] {
  let before = "";
  return ticks.map((time) => {
    const p = timeParts(time, zone);
    if (stepMs >= 360 * kDayMs) return String(p.year);
    if (stepMs >= 28 * kDayMs) return `${kMonths[p.month - 1]}\n${p.year}`;
    if (stepMs >= kDayMs) {
      const year = String(p.year);
      const text = year === before ? `${p.day} ${kMonths[p.month - 1]}` : `${p.day} ${kMonths[p.month - 1]}\n${year}`;
      before = year;
      return text;
    }
    let text = `${two(p.hour)}:${two(p.minute)}`;
    if (stepMs < 60_000) text += `:${two(p.second)}`;
    if (stepMs < 1000) text += `.${String(p.ms).padStart(3, "0")}`;
    const date = dateText(time, zone);
    if (date !== before) text += `\n${date}`;
    before = date;
    return text;
  });
}

export function valueTicks(ticks: (number | null)[]): string[] {
  return ticks.map((value) => (value === null ? "" : compact(value, 6)));
}
