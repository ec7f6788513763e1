// Answers of /prometheus/api/v1/query_range:
//   {"status":"success","data":{"resultType":"matrix","result":[{"metric":{..},"values":[[1.5,"2"],..]},..],
//    "stats":{..}},"warnings":["..",..],"infos":["..",..]}
import type { Cost } from "./cost";
import { items } from "./pieces";
import { gapsAbove, statsOf, type Series } from "./series";

// What the server says of a query that it has answered.
export interface Notice {
  kind: "warning" | "info";
  text: string;
}

interface Item {
  metric: Record<string, string>;
  values: [number, string][]; // seconds since 1970
}

interface Envelope {
  data?: {
    stats?: {
      timings?: Record<string, number>; // seconds
      samples?: Record<string, number>;
    };
  };
  warnings?: string[];
  infos?: string[];
}

const kResult = '"result":[';

// Each series as a text for JSON.parse. Returns the rest of the answer, with an empty result; the whole of it
// where it breaks off, so that JSON.parse says so.
export function* resultPieces(text: string): Generator<string, string> {
  const begin = text.indexOf(kResult); // only resultType stands before it
  if (begin < 0) return text;
  const list = begin + kResult.length - 1;
  const end = yield* items(text, list);
  return end < 0 ? text : `${text.slice(0, list)}[]${text.slice(end)}`;
}

export interface AskedExpression {
  place: number; // in State.expressions
  text: string;
  stepMs: number | null; // null: not known
}

const kStepsMax = 1.5; // between two points of one line

export function decodeMatrixSeries(given: unknown, { place, text, stepMs }: AskedExpression): Series {
  const { metric, values: pairs } = given as Item;
  const { __name__: name, ...tags } = metric;
  const times = new Float64Array(pairs.length);
  const values = new Float64Array(pairs.length);
  for (let i = 0; i < pairs.length; i++) {
    times[i] = Math.round(pairs[i][0] * 1000);
    values[i] = valueOf(pairs[i][1]);
  }
  return {
    query: place,
    metric: name ?? (Object.keys(tags).length ? "" : text), // a line without labels is named by its expression
    tags,
    aggregateTags: [],
    times,
    values,
    stats: statsOf(values),
    breaks: stepMs ? gapsAbove(times, stepMs * kStepsMax) : [],
  };
}

function valueOf(text: string): number {
  if (text === "+Inf") return Infinity;
  return text === "-Inf" ? -Infinity : Number(text);
}

export function decodeNotices(envelope: unknown): Notice[] {
  const { warnings = [], infos = [] } = envelope as Envelope;
  return [
    ...warnings.map((text): Notice => ({ kind: "warning", text })),
    ...infos.map((text): Notice => ({ kind: "info", text })),
  ];
}

// Null where the server does not tell.
export function decodeStats(envelope: unknown, pointsOut: number): Cost | null {
  const stats = (envelope as Envelope).data?.stats;
  if (!stats) return null;
  const { timings = {}, samples = {} } = stats;
  const ms = (name: string): number => (timings[name] ?? 0) * 1000;
  return {
    samples: samples.totalQueryableSamples ?? 0,
    pointsRead: samples.samplesRead ?? samples.totalQueryableSamples ?? 0,
    pointsOut,
    blocks: 0,
    chunksDecoded: 0,
    chunksSkipped: 0,
    totals: 0,
    ms: ms("evalTotalTime"),
    stages: {
      queue: ms("execQueueTime"),
      select: ms("queryPreparationTime"),
      evaluate: ms("innerEvalTime"),
      sort: ms("resultSortTime"),
    },
  };
}

// Of expressions that were asked together. Null where none has any.
export function sumCosts(costs: (Cost | null)[]): Cost | null {
  const known = costs.filter((cost): cost is Cost => cost !== null);
  return known.length ? known.reduce(add) : null;
}

function add(a: Cost, b: Cost): Cost {
  const stages = Object.keys({ ...a.stages, ...b.stages });
  return {
    samples: (a.samples ?? 0) + (b.samples ?? 0),
    pointsRead: a.pointsRead + b.pointsRead,
    pointsOut: a.pointsOut + b.pointsOut,
    blocks: a.blocks + b.blocks,
    chunksDecoded: a.chunksDecoded + b.chunksDecoded,
    chunksSkipped: a.chunksSkipped + b.chunksSkipped,
    totals: a.totals + b.totals,
    ms: a.ms + b.ms,
    stages: Object.fromEntries(stages.map((id) => [id, (a.stages[id] ?? 0) + (b.stages[id] ?? 0)])),
  };
}
