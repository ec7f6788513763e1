// Numbers and times as people read them.
import { timeParts, type Zone } from "./zone";

const kUnits = ["", "k", "M", "G", "T", "P", "E"];
const kSmall = ["", "m", "µ", "n", "p"];

// At most `digits` significant digits with an SI prefix: 12.5k, 3.1M, 250µ. Exact enough to read, not to
// copy: the table has the exact value.
export function compact(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e21 || size < 1e-14) return value.toExponential(digits - 2);
  let step = 0;
  let scaled = size;
  if (size >= 10_000) {
    while (round(scaled, digits) >= 1000 && step < kUnits.length - 1) {
      scaled /= 1000;
      step += 1;
    }
    return sign(value) + String(round(scaled, digits)) + kUnits[step];
  }
  if (size < 0.001) {
    while (round(scaled, digits) < 1 && step < kSmall.length - 1) {
      scaled *= 1000;
      step += 1;
    }
    return sign(value) + String(round(scaled, digits)) + kSmall[step];
  }
  return sign(value) + String(round(size, digits));
}

function sign(value: number): string {
  return value < 0 ? "−" : "";
}

function round(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}

export function exact(value: number): string {
  return Number.isNaN(value) ? "" : String(value);
}

// "1 series", "2 points"; the plural of "series" is itself.
export function count(n: number, noun: string): string {
  const number = n.toLocaleString("en-US").replace(/,/g, " ");
  return `${number} ${n === 1 || noun.endsWith("s") ? noun : `${noun}s`}`;
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KiB`;
  if (n < 1024 ** 3) return `${(n / 1024 ** 2).toFixed(1)} MiB`;
  return n < 1024 ** 4 ? `${(n / 1024 ** 3).toFixed(1)} GiB` : `${(n / 1024 ** 4).toFixed(2)} TiB`;
}

export function elapsed(ms: number): string {
  if (ms > 0 && ms < 10) return `${Number(ms.toPrecision(2))} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

export function two(n: number): string {
  return String(n).padStart(2, "0");
}

export function dateText(time: number, zone: Zone): string {
  const p = timeParts(time, zone);
  return `${String(p.year).padStart(4, "0")}-${two(p.month)}-${two(p.day)}`;
}

export function clockText(time: number, zone: Zone): string {
  const p = timeParts(time, zone);
  const rest = p.ms ? `.${String(p.ms).padStart(3, "0")}` : "";
  return `${two(p.hour)}:${two(p.minute)}:${two(p.second)}${rest}`;
}

export function dateTimeText(time: number, zone: Zone): string {
  return `${dateText(time, zone)} ${clockText(time, zone)}`;
}
