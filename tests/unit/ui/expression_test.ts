import assert from "node:assert/strict";
import test from "node:test";
import { parseExpression, printExpression } from "../../../web/ui/src/question/metric_expression";
import { newSubQuery, type SubQuery } from "../../../web/ui/src/question/state";

function parsed(text: string): SubQuery {
  const result = parseExpression(text);
  if ("error" in result) throw new Error(result.error);
  return result.query;
}

// What is written the page's way comes back letter for letter.
const kSame = [
  "sum:sys.cpu.user",
  "none:sys.cpu.user",
  "avg:1m-avg:sys.cpu.user",
  "avg:auto-max-nan:sys.cpu.user",
  "sum:0all-sum:sys.cpu.user",
  "sum:1dc-sum:sys.cpu.user",
  "sum:rate:sys.cpu.user",
  "sum:1m-avg-zero:rate{counter}:sys.cpu.user",
  "sum:rate{dropcounter}:sys.cpu.user",
  "sum:rate{counter,65535}:sys.cpu.user",
  "sum:rate{counter,,1000}:sys.cpu.user",
  "sum:rate{counter,65535,1000}:sys.cpu.user",
  "sum:explicit_tags:sys.cpu.user{host=*}",
  "sum:sys.cpu.user{host=*}",
  "sum:sys.cpu.user{host=web01|web02,dc=*}",
  "sum:sys.cpu.user{}{dc=lga}",
  "sum:sys.cpu.user{host=*}{dc=regexp(^l.*)}",
  "sum:sys.cpu.user{host=not_literal_or(web01)}",
  "sum:sys.cpu.user{host=iwildcard(WEB*)}",
];

for (const text of kSame) {
  test(`${text} is read and written alike`, () => assert.equal(printExpression(parsed(text)), text));
}

test("parts may stand in any order and case, as OpenTSDB takes them", () => {
  const query = parsed("sum:RATE:10s-max:Explicit_Tags:m{a=b}");
  assert.ok(query.rate);
  assert.deepEqual(query.downsample, { interval: "10s", aggregator: "max", fill: "none" });
  assert.ok(query.explicitTags);
});

test("a value with * is a wildcard in any case, as in OpenTSDB's tags", () => {
  assert.deepEqual(parsed("sum:m{host=web*}").filters, [
    { tagk: "host", type: "iwildcard", value: "web*", groupBy: true },
  ]);
});

test("characters of the grammar survive inside names and values", () => {
  const query = newSubQuery("a:b,c{d}=e%2C<img onerror=alert(1)>");
  query.filters = [
    { tagk: "k=:{}", type: "regexp", value: "^a{2}:(b|c),=%7D$", groupBy: true },
    { tagk: "k", type: "literal_or", value: "wildcard(x)", groupBy: false },
  ];
  assert.deepEqual(parsed(printExpression(query)), query);
});

const kWrong = ["", "sum", "sum:foo:sys.cpu", "sum:1m:sys.cpu", "sum:m{host}", "sum:m{=a}", "sum:m{a=}", "sum:m{a=b", "sum:m}a=b{"];

for (const text of kWrong) {
  test(`"${text}" is refused with a reason`, () => {
    const result = parseExpression(text);
    assert.ok("error" in result && result.error.length > 10);
  });
}
