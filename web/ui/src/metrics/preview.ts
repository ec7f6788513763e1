// A metric at a glance: its last hour as one line, a counter as its rate.
import { h, replace } from "../base/dom";
import { compact } from "../base/format";
import { spark, type SparkPoint } from "../base/spark";
import { openingState } from "../question/opening";
import { subQueryJson } from "../question/question";
import { isAbort, parse, postQuery } from "../server/api";

const kSpanMs = 3_600_000;
const kWidthPx = 480;

export class Preview {
  readonly root = h("div", { class: "preview" });

  async show(metric: string, signal: AbortSignal): Promise<void> {
    const end = Date.now();
    const range = { start: end - kSpanMs, end };
    const query = openingState(metric).queries[0];
    const rate = query.rate !== null;
    const one = { ...query, filters: [], aggregator: rate ? "sum" : "avg" };
    const body = JSON.stringify({ ...range, msResolution: true, queries: [subQueryJson(one, range, kWidthPx)] });
    try {
      const { text } = await postQuery(body, signal);
      const answer = parse(text) as { dps?: SparkPoint[] }[];
      this.draw((answer[0]?.dps ?? []).filter(([, value]) => typeof value === "number"), rate);
    } catch (error) {
      if (!isAbort(error)) this.say(error instanceof Error ? error.message : String(error));
    }
  }

  say(text: string): void {
    replace(this.root, h("p", { class: "muted", text }));
  }

  private draw(points: SparkPoint[], rate: boolean): void {
    const what = rate ? "sum of all series, per second" : "average of all series";
    if (points.length === 0) {
      this.say("No points in the last hour.");
      return;
    }
    const values = points.map(([, value]) => value);
    const facts: [string, number][] = [
      ["last", values[values.length - 1]],
      ["min", values.reduce((a, b) => Math.min(a, b))],
      ["max", values.reduce((a, b) => Math.max(a, b))],
    ];
    replace(
      this.root,
      h("p", { class: "muted", text: `Last hour: ${what}` }),
      spark(points, `The last hour, ${what}`),
      h("p", { class: "preview-facts" }, ...facts.map(([name, value]) => h("span", {}, h("span", { class: "muted", text: `${name} ` }), compact(value, 4)))),
    );
  }
}
