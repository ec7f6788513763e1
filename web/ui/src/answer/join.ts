// Puts series with times of their own over one common row of times, as the graph and the table need it.
import type { Series } from "./series";

// A number, null where the series says "nothing here", undefined where another series has a point and this
// one simply has none: a line goes on across undefined and stops at null.
export type Column = Float64Array | (number | null | undefined)[];

export interface Joined {
  times: Float64Array;
  columns: Column[]; // one a series, each as long as times
}

export function join(series: Series[]): Joined {
  const distinct = distinctTimes(series);
  const times = distinct.length === 1 ? distinct[0] : union(distinct);
  return { times, columns: series.map((one) => column(one, times)) };
}

function distinctTimes(series: Series[]): Float64Array[] {
  const distinct: Float64Array[] = [];
  for (const { times } of series) {
    if (!distinct.some((other) => same(other, times))) distinct.push(times);
  }
  return distinct;
}

function same(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return false;
  }
  return true;
}

function union(all: Float64Array[]): Float64Array {
  const together = new Float64Array(all.reduce((n, times) => n + times.length, 0));
  let at = 0;
  for (const times of all) {
    together.set(times, at);
    at += times.length;
  }
  together.sort();
  let n = 0;
  for (let i = 0; i < together.length; i++) {
    if (i === 0 || together[i] !== together[n - 1]) together[n++] = together[i];
  }
  return together.slice(0, n);
}

function column(one: Series, times: Float64Array): Column {
  const whole = one.times.length === times.length && one.stats.count === times.length;
  if (whole) return one.values;
  const out: (number | null | undefined)[] = new Array(times.length);
  let j = 0;
  for (let i = 0; i < times.length; i++) {
    if (j < one.times.length && one.times[j] === times[i]) {
      const v = one.values[j++];
      out[i] = Number.isNaN(v) ? null : v;
    } else {
      out[i] = undefined;
    }
  }
  return out;
}
