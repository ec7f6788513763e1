import assert from "node:assert/strict";
import test from "node:test";
import { decodeMatrixSeries, decodeNotices, decodeStats, resultPieces, sumCosts } from "../../../web/ui/src/answer/prometheus";
import { labelOf, type Series } from "../../../web/ui/src/answer/series";
import { cursorAt, labelName, metricSelector, metricsIn } from "../../../web/ui/src/promql/cursor";
import { kFunctions, kKeywords } from "../../../web/ui/src/promql/functions";
import { placeOf } from "../../../web/ui/src/promql/place";
import { curlRange, rangeRequests } from "../../../web/ui/src/promql/request";
import { translate } from "../../../web/ui/src/promql/translate";
import { newExpression, newState, newSubQuery, type State } from "../../../web/ui/src/question/state";
import { parseUrl, printUrl } from "../../../web/ui/src/question/url";

// ---- the cursor: where it is stands as | in the text --------------------------------------------

function at(marked: string): string {
  const place = marked.indexOf("|");
  const text = marked.slice(0, place) + marked.slice(place + 1);
  const cursor = cursorAt(text, place);
  if (!cursor) return "nothing";
  const { wanted, typed, from, to } = cursor;
  const more = "selector" in wanted ? ` of ${wanted.selector}` : "";
  const label = wanted.kind === "value" ? ` ${wanted.label}` : "";
  return `${wanted.kind}${label} "${typed}"${more}, replaces "${text.slice(from, to)}"`;
}

test("a word outside braces may become a metric, a function or a keyword", () => {
  assert.equal(at("|"), 'expression "", replaces ""');
  assert.equal(at("ra|"), 'expression "ra", replaces "ra"');
  assert.equal(at("sum(rate(node_c|"), 'expression "node_c", replaces "node_c"');
  assert.equal(at("sys.cpu|"), 'expression "sys.cpu", replaces "sys.cpu"');
  assert.equal(at("a + b|c"), 'expression "b", replaces "b"');
  assert.equal(at("up{job=\"a\"} |"), 'expression "", replaces ""');
});

test("within braces a label, after an operator its value", () => {
  assert.equal(at("up{|"), 'label "" of {__name__="up"}, replaces ""');
  assert.equal(at('up{job="a",inst|'), 'label "inst" of {__name__="up",job="a"}, replaces "inst"');
  assert.equal(at("up{job=|"), 'value job "" of {__name__="up"}, replaces ""');
  assert.equal(at('up{job="pr|'), 'value job "pr" of {__name__="up"}, replaces ""pr"');
  assert.equal(at('up{job="pr|"}'), 'value job "pr" of {__name__="up"}, replaces ""pr""');
  assert.equal(at("up{job=~'pr|'}"), "value job \"pr\" of {__name__=\"up\"}, replaces \"'pr'\"");
  assert.equal(at('{"sys.cpu.user", host!="|'), 'value host "" of {__name__="sys.cpu.user"}, replaces """');
  assert.equal(at('{"host.name"="|'), 'value host.name "" of null, replaces """');
  assert.equal(at('{"sys|'), 'metric "sys", replaces ""sys"');
  assert.equal(at('{job="a" |'), "nothing");
  assert.equal(at('a{x="1"} + b{|'), 'label "" of {__name__="b"}, replaces ""');
});

test("after by and on the labels of all metrics in the text", () => {
  assert.equal(at("sum by (|) (rate(up[5m]))"), 'label "" of {__name__="up"}, replaces ""');
  assert.equal(at("a / on (job, in|) b"), 'label "in" of {__name__=~"a|b"}, replaces "in"');
  assert.equal(at('sum WITHOUT (|) ({"x.y"})'), 'label "" of {__name__="x.y"}, replaces ""');
  assert.equal(at("sum by (|"), 'label "" of null, replaces ""');
});

test("in brackets a duration; in numbers, comments and strings nothing", () => {
  assert.equal(at("rate(up[|"), 'duration "", replaces ""');
  assert.equal(at("rate(up[5|"), 'duration "5", replaces "5"');
  assert.equal(at("up + 1|"), "nothing");
  assert.equal(at("up # ra|"), "nothing");
  assert.equal(at("up # x\nra|"), 'expression "ra", replaces "ra"');
  assert.equal(at('label_replace(up, "j|'), "nothing");
  assert.equal(at('x("{") + a|'), 'expression "a", replaces "a"');
  assert.equal(at('x("a\\"{|'), "nothing");
});

test("metrics, labels, functions and keywords are distinguished", () => {
  const text = 'sum by (job) (rate(a_total{x="y"}[5m] offset 1h)) / on (z) group_left (w) b == bool {"c.d", e="f"} or inf';
  assert.deepEqual(metricsIn(text), ["a_total", "b", "c.d"]);
  assert.deepEqual(metricsIn(""), []);
});

test("names are quoted where the language wants it", () => {
  assert.equal(metricSelector("job:up:sum"), "job:up:sum");
  assert.equal(metricSelector("sys.cpu.user"), '{"sys.cpu.user"}');
  assert.equal(metricSelector("sum"), '{"sum"}');
  assert.equal(metricSelector('a"b\\c'), '{"a\\"b\\\\c"}');
  assert.equal(labelName("host"), "host");
  assert.equal(labelName("host.name"), '"host.name"');
});

test("each function and keyword is offered once", () => {
  const names = [...kFunctions, ...kKeywords].map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, note } of [...kFunctions, ...kKeywords]) assert.ok(/^[a-z_0-9]+$/.test(name) && note, name);
});

// ---- places of errors ---------------------------------------------------------------------------

test("an error marks the word at its place", () => {
  const marked = (message: string, text: string): string | null => {
    const place = placeOf(message, text);
    return place && `${text.slice(0, place.from)}[${text.slice(place.from, place.to)}]${text.slice(place.to)} ${place.message}`;
  };
  assert.equal(
    marked('invalid parameter "query": 1:5: parse error: unexpected identifier "n"', "up  n"),
    'up  [n] unexpected identifier "n"',
  );
  assert.equal(marked("1:6: parse error: unclosed left parenthesis", "rate(up"), "rate([up] unclosed left parenthesis");
  assert.equal(marked("2:3: parse error: x", "a +\n  bc"), "a +\n  [bc] x");
  assert.equal(marked("1:9: parse error: end", "sum(up +"), "sum(up +[] end");
  assert.equal(marked("1:6: parse error: x", 'a{ü="€"'), 'a{ü=["€"] x'); // columns are bytes
  assert.equal(marked("3:1: parse error: x", "a"), null);
  assert.equal(marked('invalid parameter "query": unknown position: parse error: no expression found in input', ""), null);
  assert.equal(marked("vector cannot contain metrics with the same labelset", "up"), null);
});

// ---- requests -----------------------------------------------------------------------------------

function promql(...texts: string[]): State {
  return { ...newState(), language: "promql", expressions: texts.map((text) => newExpression(text)) };
}

test("each expression is asked at multiples of the step", () => {
  const state = promql("up", " ", "a\n+ b", "hidden");
  state.expressions[3].hidden = true;
  const requests = rangeRequests(state, { start: 1_700_000_007_123, end: 1_700_003_607_123 }, 800);
  assert.deepEqual(requests.map(({ asked }) => asked), [0, 2]);
  assert.deepEqual(requests[1].parameters, [
    ["query", "a\n+ b"],
    ["start", "1700000000"],
    ["end", "1700003600"],
    ["step", "10"],
  ]);
});

test("a step that is no duration is the server's to refuse", () => {
  const [{ parameters }] = rangeRequests({ ...promql("up"), step: "5x" }, { start: 1500, end: 3500 }, 800);
  assert.deepEqual(parameters.slice(1), [["start", "1.5"], ["end", "3.5"], ["step", "5x"]]);
});

test("the curl command survives quotes", () => {
  const requests = [{ asked: 0, parameters: [["query", "a{b='c d'}"]] as [string, string][] }];
  assert.equal(
    curlRange("http://h/prometheus/api/v1/query_range", requests),
    "curl -sS 'http://h/prometheus/api/v1/query_range' --data-urlencode 'query=a{b='\\''c d'\\''}'",
  );
});

test("expressions come back from the URL, with their language", () => {
  const back = (state: State): State => {
    const url = printUrl(state);
    assert.ok(!/[<>{}|"\s]/.test(url), url);
    return parseUrl(url).state;
  };
  const state = promql('sum by (job) (rate(a{b=~"c|d&%#+"}[5m]))\n/ 2', "b");
  state.queries = [];
  state.step = "30s";
  state.expressions[1].rightAxis = true;
  state.expressions[0].hidden = true;
  assert.deepEqual(back(state), state);
  const empty: State = { ...promql(), queries: [] };
  assert.equal(printUrl(empty), "#start=1h-ago&promql=");
  assert.deepEqual(back(empty), empty);
  assert.equal(printUrl({ ...promql("up"), queries: [newSubQuery("not.asked")] }), "#start=1h-ago&promql=up");
  assert.equal(parseUrl("#m=sum:a").state.language, "opentsdb");
});

// ---- answers ------------------------------------------------------------------------------------

function read(text: string): { series: Series[]; rest: string } {
  const series: Series[] = [];
  const pieces = resultPieces(text);
  for (;;) {
    const next = pieces.next();
    if (next.done) return { series, rest: next.value };
    series.push(decodeMatrixSeries(JSON.parse(next.value), { place: 3, text: "1 + 1", stepMs: 10_000 }));
  }
}

const kStats = {
  timings: { evalTotalTime: 0.004, queryPreparationTime: 0.001, innerEvalTime: 0.003 },
  samples: { totalQueryableSamples: 40, peakSamples: 5, samplesRead: 20 },
};

test("an answer becomes series, notices and a cost", () => {
  const answer = {
    status: "success",
    data: {
      resultType: "matrix",
      result: [
        { metric: { __name__: "up", job: '"]}' }, values: [[10, "1"], [20.5, "NaN"], [40, "+Inf"], [50, "-1e-07"]] },
        { metric: {}, values: [[10, "2"]] },
        { metric: { a: "b" }, values: [] },
      ],
      stats: kStats,
    },
    warnings: ["w"],
    infos: ["i"],
  };
  const { series, rest } = read(JSON.stringify(answer));
  assert.deepEqual(series.map(labelOf), ['up{job="]}}', "1 + 1", "{a=b}"]);
  assert.deepEqual([...series[0].times], [10_000, 20_500, 40_000, 50_000]);
  assert.deepEqual([...series[0].values], [1, NaN, Infinity, -1e-7]);
  assert.deepEqual(series[0].breaks, [[20_500, 40_000]]);
  assert.equal(series[0].query, 3);
  const envelope = JSON.parse(rest);
  assert.deepEqual(decodeNotices(envelope), [{ kind: "warning", text: "w" }, { kind: "info", text: "i" }]);
  const cost = decodeStats(envelope, 5);
  assert.equal(cost?.samples, 40);
  assert.equal(cost?.pointsRead, 20);
  assert.equal(cost?.stages.evaluate, 3);
  assert.equal(sumCosts([cost, null, cost])?.stages.select, 2);
  assert.equal(sumCosts([null]), null);
  assert.equal(decodeStats({ data: {} }, 0), null);
});

test("an empty answer has no series, one that breaks off is no JSON", () => {
  const empty = '{"status":"success","data":{"resultType":"matrix","result":[]}}';
  assert.deepEqual(read(empty), { series: [], rest: empty });
  const { series, rest } = read('{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[]}');
  assert.equal(series.length, 1);
  assert.throws(() => JSON.parse(rest));
  assert.equal(read("<html>").rest, "<html>");
});

// ---- from OpenTSDB's language -------------------------------------------------------------------

test("a sub-query becomes an expression", () => {
  const query = newSubQuery("sys.cpu.user");
  assert.equal(translate(query), 'sum({"sys.cpu.user"})');
  query.filters = [
    { tagk: "host", type: "wildcard", value: "*", groupBy: true },
    { tagk: "dc", type: "literal_or", value: "lga|s.jc", groupBy: false },
    { tagk: "rack", type: "not_literal_or", value: "7", groupBy: false },
    { tagk: "os", type: "iwildcard", value: "deb*", groupBy: false },
    { tagk: "role", type: "regexp", value: "^web", groupBy: false },
  ];
  query.rate = { counter: true, counterMax: "", resetValue: "", dropResets: true };
  query.aggregator = "p99";
  assert.equal(
    translate(query),
    'quantile by (host) (0.99, rate({"sys.cpu.user", host!="", dc=~"(?:lga|s\\\\.jc)", rack!="7", ' +
      'os=~"(?i)deb.*", role=~".*(?:^web).*"}[5m]))',
  );
  assert.equal(translate({ ...newSubQuery("up"), aggregator: "none" }), "up");
  assert.equal(translate(newSubQuery()), "");
});
