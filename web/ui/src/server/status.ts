// How the server is: /api/server, /api/server/queries, /api/server/regions, /api/stats.
import { ApiError, getJson, send } from "./api";

export interface RefusedPoint {
  time: number; // ms since 1970
  protocol: string;
  reason: string; // illegal_argument, ...
  error: string;
  point: string; // the beginning of what was sent
}

export interface Slot {
  slot: number;
  begin: number; // ms since 1970
  end: number; // excluded
  bytes: number;
  files: number;
  sealed: boolean;
  late: boolean;
}

export interface Cycle {
  prefix: string; // of its metrics; empty: all others
  ttlMs: number; // 0 = for ever
  spanMs: number;
  ringSlots: number; // 0 = no slot is used again
  slots: Slot[];
}

export interface Overview {
  now: number;
  started: number;
  version: string;
  store: string;
  mode: string;
  ready: boolean;
  reason: string; // why it is not ready
  refused: RefusedPoint[]; // the newest first
  cycles: Cycle[];
  crowded: CrowdedMetric[]; // the worst first
}

// A metric whose points would have begun a series too many.
export interface CrowdedMetric {
  metric: string;
  refused: number;
}

export interface View {
  name: string;
  metrics: string;
  intervalMs: number;
  groupBy: string[] | null; // null: all tags
  keepMs: number; // 0: forever
  existing: number; // metrics
  unitsBuilt: number;
  unitsWaiting: number;
  lagMs: number | null;
  timeLeftMs: number | null;
  bytes: number;
  building: string;
  error: string;
}

export interface RunningQuery {
  id: number;
  query: { start: string; end: string; queries: Record<string, unknown>[]; promql?: string };
  remote: string;
  begin: number;
  elapsedMs: number;
  cancelled: boolean;
}

export interface DoneQuery extends RunningQuery {
  status: number;
  error: string;
  cost: { series: number; pointsRead: number; ms: number };
  spans?: QueryStep[]; // in the order of their begins
  spansLeftOut?: number;
  traceId?: string; // if it was sent to a collector
}

export interface QueryStep {
  name: string;
  beginMs: number; // after the begin of the request
  ms: number;
  shard?: number; // the read of one, a part of "scan"
  points?: number;
}

export interface Queries {
  running: RunningQuery[];
  completed: DoneQuery[]; // the newest first
}

// Where points lie on a cluster of HBase.
export interface Region {
  from: string; // its first row, in words
  server: string; // empty: not online
  reads: number; // requests since it was opened
  writes: number;
  files: number;
  filesMib: number;
  memoryMib: number;
  hot: boolean;
}

export interface ServerLoad {
  server: string;
  regions: number;
  hot: number; // of these
  reads: number;
  writes: number;
  filesMib: number;
  memoryMib: number;
}

export interface Regions {
  table: string;
  servers: ServerLoad[];
  regions: Region[];
}

export function regions(signal: AbortSignal): Promise<Regions> {
  return getJson<Regions>("api/server/regions", signal);
}

export function views(signal: AbortSignal): Promise<View[]> {
  return getJson<View[]>("api/views", signal);
}

export function overview(signal: AbortSignal): Promise<Overview> {
  return getJson<Overview>("api/server", signal);
}

export function queries(signal: AbortSignal): Promise<Queries> {
  return getJson<Queries>("api/server/queries", signal);
}

// False: it has ended meanwhile.
export async function cancelQuery(id: number): Promise<boolean> {
  try {
    await send("DELETE", `api/server/queries/${id}`);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

interface StatLine {
  metric: string;
  timestamp: number;
  value: string;
  tags: Record<string, string>;
}

const kPrefix = "tsd.halite.";

// The server's own numbers at one time, by names without the prefix "tsd.halite.".
export class Numbers {
  private readonly lines = new Map<string, StatLine[]>();

  constructor(
    lines: StatLine[],
    readonly time: number, // ms since 1970, of this browser
  ) {
    for (const line of lines) {
      if (!line.metric.startsWith(kPrefix)) continue;
      const name = line.metric.slice(kPrefix.length);
      const all = this.lines.get(name);
      if (all) all.push(line);
      else this.lines.set(name, [line]);
    }
  }

  has(name: string): boolean {
    return this.lines.has(name);
  }

  // Over all tags.
  sum(name: string): number {
    return (this.lines.get(name) ?? []).reduce((sum, line) => sum + Number(line.value), 0);
  }

  // Sums by the value of a tag.
  by(name: string, tag: string): Map<string, number> {
    const sums = new Map<string, number>();
    for (const line of this.lines.get(name) ?? []) {
      const key = line.tags[tag] ?? "";
      sums.set(key, (sums.get(key) ?? 0) + Number(line.value));
    }
    return sums;
  }

  // Growth a second since `before`; null while there is nothing to tell it from.
  rate(before: Numbers | null, name: string): number | null {
    if (!before || this.time <= before.time) return null;
    const grown = this.sum(name) - before.sum(name);
    return grown < 0 ? null : grown / ((this.time - before.time) / 1000);
  }
}

export async function numbers(signal: AbortSignal): Promise<Numbers> {
  return new Numbers(await getJson<StatLine[]>("api/stats", signal), Date.now());
}

export function settings(signal: AbortSignal): Promise<Record<string, string>> {
  return getJson<Record<string, string>>("api/config", signal);
}

export function version(signal: AbortSignal): Promise<Record<string, string>> {
  return getJson<Record<string, string>>("api/version", signal);
}
