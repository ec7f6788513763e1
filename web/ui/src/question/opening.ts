// What the page opens on where the URL says nothing: the server's own metrics, since they are always there.
import { newState, newSubQuery, type Rate, type State } from "./state";

const kOwn = [
  "halite.ingest.points_total",
  "halite.web.requests_total",
  "halite.process.cpu_seconds_total",
  "halite.process.resident_bytes",
];

const kSplit: Record<string, string> = { "halite.ingest.points_total": "protocol" };

const kRefreshSeconds = 10; // how often the server stores them

// Null where there is nothing to open on.
export function openingMetric(own: string[], all: string[]): string | null {
  return kOwn.find((name) => own.includes(name)) ?? own[0] ?? all[0] ?? null;
}

function isCounter(metric: string): boolean {
  return /_total$|\.count$/.test(metric);
}

// What a metric is best seen as: of a counter the rate, without a spike where a restart set it back to zero.
function usualRate(metric: string): Rate | null {
  return isCounter(metric) ? { counter: true, counterMax: "", resetValue: "", dropResets: true } : null;
}

// The rate of a query whose metric changes: as it was, unless only one of the two is a counter.
export function rateAfter(before: string, after: string, rate: Rate | null): Rate | null {
  return isCounter(before) === isCounter(after) ? rate : usualRate(after);
}

export function openingState(metric: string): State {
  const state = newState();
  const query = newSubQuery(metric);
  query.rate = usualRate(metric);
  const split = kSplit[metric];
  if (split) query.filters = [{ tagk: split, type: "wildcard", value: "*", groupBy: true }];
  state.queries = [query];
  state.start = "15m-ago";
  state.refreshSeconds = kRefreshSeconds;
  return state;
}
