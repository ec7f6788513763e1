// Points a second as the server stored it of itself, before anybody looked.
import { parse, postQuery } from "../server/api";
import type { SparkPoint } from "../base/spark";

const kMetric = "halite.ingest.points_total";

// None where the server does not store its own numbers.
export async function pastRate(signal: AbortSignal): Promise<SparkPoint[]> {
  const body = JSON.stringify({
    start: "15m-ago",
    msResolution: true,
    queries: [{ metric: kMetric, aggregator: "sum", downsample: "10s-last", rate: true, rateOptions: { counter: true, dropResets: true } }],
  });
  const { text } = await postQuery(body, signal);
  const answer = parse(text) as { dps?: SparkPoint[] }[];
  return (answer[0]?.dps ?? []).filter(([, value]) => typeof value === "number" && value >= 0);
}
