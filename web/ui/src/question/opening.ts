// What the page opens on where the URL says nothing: the server's own metrics, since they are always there.
import { newState, newSubQuery, type State } from "./state";

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

export function openingState(metric: string): State {
  const state = newState();
  const query = newSubQuery(metric);
  if (/_total$|\.count$/.test(metric)) {
    // Restarts set it back to zero: a line without a spike there.
    query.rate = { counter: true, counterMax: "", resetValue: "", dropResets: true };
  }
  const split = kSplit[metric];
  if (split) query.filters = [{ tagk: split, type: "wildcard", value: "*", groupBy: true }];
  state.queries = [query];
  state.start = "15m-ago";
  state.refreshSeconds = kRefreshSeconds;
  return state;
}
