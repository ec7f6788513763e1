import assert from "node:assert/strict";
import test from "node:test";
import { pageOf } from "../../../web/ui/src/app/page";
import { decodeCost } from "../../../web/ui/src/answer/cost";
import { decodeNotes } from "../../../web/ui/src/answer/notes";
import { Numbers } from "../../../web/ui/src/server/status";
import { queryText } from "../../../web/ui/src/status/query_text";

test("the cost stands in the summary behind the series", () => {
  const cost = { series: 2, pointsRead: 7, pointsOut: 3, stages: { read: 1.5 } };
  assert.deepEqual(decodeCost([{ metric: "m", dps: [] }, { statsSummary: { halite: cost } }]), cost);
  assert.equal(decodeCost([{ metric: "m", dps: [] }, { statsSummary: {} }]), null);
  assert.equal(decodeCost({ error: {} }), null);
});

test("annotations come once, in order, with their times in milliseconds", () => {
  const deploy = { description: "deploy", notes: "v2", startTime: 1356998400, endTime: 0, custom: { by: "me" } };
  const power = { description: "", startTime: 1356998300500, endTime: 1356998301000 };
  const answer = [
    { annotations: [deploy], globalAnnotations: [power] },
    { annotations: [deploy, { description: "never" }], globalAnnotations: [power] },
    { statsSummary: {} },
  ];
  assert.deepEqual(decodeNotes(answer), [
    { start: 1356998300500, end: 1356998301000, title: "Annotation", text: "", tags: [], everywhere: true },
    { start: 1356998400000, end: 0, title: "deploy", text: "v2", tags: [["by", "me"]], everywhere: false },
  ]);
  assert.deepEqual(decodeNotes(null), []);
});

test("each page has its address, and every question is the explore page's", () => {
  assert.equal(pageOf(""), "explore");
  assert.equal(pageOf("#start=1h-ago&m=sum:a"), "explore");
  assert.equal(pageOf("#/explore"), "explore");
  assert.equal(pageOf("#/status"), "status");
  assert.equal(pageOf("#/metrics/a%2Fb"), "metrics");
  assert.equal(pageOf("#/start/otlp"), "start");
  assert.equal(pageOf("#/nosuch"), "explore");
});

test("numbers are summed, told apart by a tag, and become rates", () => {
  const line = (value: string, protocol: string): { metric: string; timestamp: number; value: string; tags: Record<string, string> } => ({
    metric: "tsd.halite.ingest.points_total",
    timestamp: 1,
    value,
    tags: { host: "h", protocol },
  });
  const before = new Numbers([line("10", "http"), line("5", "telnet")], 1000);
  const now = new Numbers([line("30", "http"), line("5", "telnet"), { ...line("9", "x"), metric: "tsd.rpc.received" }], 3000);
  assert.equal(now.sum("ingest.points_total"), 35);
  assert.deepEqual([...now.by("ingest.points_total", "protocol")], [["http", 30], ["telnet", 5]]);
  assert.equal(now.rate(before, "ingest.points_total"), 10);
  assert.equal(before.rate(now, "ingest.points_total"), null);
  assert.equal(now.rate(null, "ingest.points_total"), null);
  assert.equal(now.sum("nosuch"), 0);
});

test("a query is told in a line", () => {
  const filters = [
    { tagk: "host", filter: "*", type: "wildcard", group_by: true },
    { tagk: "dc", filter: "l.*", type: "regexp", group_by: false },
  ];
  const queries = [{ aggregator: "sum", metric: "m", downsample: "1m-avg", rate: true, filters }];
  assert.equal(queryText({ start: "0", end: "3599999", queries }), "1h of sum:1m-avg:rate:m{host=*}{dc=regexp(l.*)}");
  const bare = [{ aggregator: "max", metric: null, tsuids: ["01", "02"], filters: [] }];
  const promql = { start: "0", end: "3600000", queries: [], promql: "sum(up)" };
  assert.equal(queryText(promql), "1h of sum(up)");
  assert.equal(queryText({ start: "5", end: "5", queries: bare }), "max:2 tsuids");
});
