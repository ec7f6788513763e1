import assert from "node:assert/strict";
import test from "node:test";
import { openingMetric, openingState, rateAfter } from "../../../web/ui/src/question/opening";
import { buildQuestion, curlCommand, readableQuestion } from "../../../web/ui/src/question/question";
import { newState, newSubQuery, type State } from "../../../web/ui/src/question/state";
import { adviceFor } from "../../../web/ui/src/server/advice";
import { ApiError } from "../../../web/ui/src/server/api";

const kHour = { start: 1_700_000_000_000, end: 1_700_003_600_000 };

function stateOf(...metrics: string[]): State {
  return { ...newState(), queries: metrics.map((metric) => newSubQuery(metric)) };
}

function queriesOf(state: State): Record<string, unknown>[] {
  return JSON.parse(buildQuestion(state, kHour, 1000).body).queries;
}

test("the question in OpenTSDB's words", () => {
  const state = stateOf("m");
  const query = state.queries[0];
  query.aggregator = "avg";
  query.rate = { counter: true, counterMax: "65535", resetValue: "", dropResets: true };
  query.filters = [{ tagk: "host", type: "wildcard", value: "*", groupBy: true }];
  query.explicitTags = true;
  assert.deepEqual(JSON.parse(buildQuestion(state, kHour, 1000).body), {
    start: kHour.start,
    end: kHour.end,
    msResolution: true,
    showQuery: true,
    showSummary: true,
    globalAnnotations: true,
    queries: [
      {
        metric: "m",
        aggregator: "avg",
        downsample: "10s-avg",
        rate: true,
        rateOptions: { counter: true, counterMax: 65535, dropResets: true },
        filters: [{ type: "wildcard", tagk: "host", filter: "*", groupBy: true }],
        explicitTags: true,
      },
    ],
  });
});

test("hidden, unnamed and repeated queries are not asked", () => {
  const state = stateOf("a", "", "b", "a", "c");
  state.queries[2].hidden = true;
  const { body, asked } = buildQuestion(state, kHour, 1000);
  assert.deepEqual(JSON.parse(body).queries.map((query: { metric: string }) => query.metric), ["a", "c"]);
  assert.deepEqual(asked, [0, 4]);
});

test("fill policies and intervals go as they are; auto vanishes where raw points are few", () => {
  const state = stateOf("m");
  state.queries[0].downsample = { interval: "1dc", aggregator: "sum", fill: "zero" };
  assert.equal(queriesOf(state)[0].downsample, "1dc-sum-zero");
  assert.ok("timezone" in JSON.parse(buildQuestion(state, kHour, 1000).body));
  state.queries[0].downsample = { interval: "auto", aggregator: "avg", fill: "none" };
  const minute = { start: 0, end: 60_000 };
  assert.ok(!("downsample" in JSON.parse(buildQuestion(state, minute, 1000).body).queries[0]));
});

test("what is copied keeps relative times and leaves out what only the page needs", () => {
  const json = JSON.parse(readableQuestion(stateOf("m"), kHour, 1000));
  assert.equal(json.start, "1h-ago");
  assert.ok(!("end" in json) && !("showQuery" in json));
});

test("the greatest counters keep every digit", () => {
  const state = stateOf('"counterMax":"1"');
  state.queries[0].rate = { counter: true, counterMax: "9223372036854775807", resetValue: "1", dropResets: false };
  const { body } = buildQuestion(state, kHour, 1000);
  assert.ok(body.includes('"counterMax": 9223372036854775807,'), body);
  assert.ok(readableQuestion(state, kHour, 1000, 0).includes('"counterMax":9223372036854775807,"resetValue":1'));
  assert.equal(queriesOf(state)[0].metric, '"counterMax":"1"');
});

test("a curl command survives quotes in names", () => {
  const json = readableQuestion(stateOf("it's"), kHour, 1000, 0);
  assert.ok(curlCommand("http://h/api/query", json).includes(`it'\\''s`));
});

test("the page opens on the server's own metrics, counters as rates that skip resets", () => {
  assert.equal(openingMetric(["halite.a", "halite.ingest.points_total"], ["a"]), "halite.ingest.points_total");
  assert.equal(openingMetric([], ["sys.cpu"]), "sys.cpu");
  assert.equal(openingMetric([], []), null);
  assert.ok(openingState("halite.ingest.points_total").queries[0].rate?.dropResets);
  assert.equal(openingState("halite.ingest.points_total").queries[0].filters[0].tagk, "protocol");
  const gauge = openingState("halite.process.resident_bytes").queries[0];
  assert.deepEqual([gauge.rate, gauge.filters], [null, []]);
});

test("another metric keeps the rate, unless only one of the two is a counter", () => {
  const plain = { counter: false, counterMax: "", resetValue: "", dropResets: false };
  assert.equal(rateAfter("a_total", "cpu", plain), null);
  assert.ok(rateAfter("", "a_total", null)?.counter);
  assert.equal(rateAfter("cpu", "mem", plain), plain);
  assert.equal(rateAfter("a_total", "b_total", null), null);
});

test("errors come with a way out", () => {
  assert.ok(adviceFor(new ApiError("No such name for 'metrics': 'x'", 400)).includes("list"));
  assert.ok(adviceFor(new ApiError("No answer from h", 0)).includes("running"));
  assert.ok(adviceFor(new ApiError("boom", 500)).includes("log"));
  assert.equal(adviceFor(new ApiError("something else", 400)), "");
});
