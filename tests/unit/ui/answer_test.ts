import assert from "node:assert/strict";
import test from "node:test";
import { csvOf } from "../../../web/ui/src/answer/csv";
import { join } from "../../../web/ui/src/answer/join";
import { decodeSeries, labelOf, longGaps, type Series } from "../../../web/ui/src/answer/series";

function decodeAnswer(answer: unknown[], asked: number[]): Series[] {
  return answer.map((item) => decodeSeries(item, asked)).filter((one) => one !== null) as Series[];
}

function decode(...dps: unknown[]): Series[] {
  return decodeAnswer(dps.map((one) => ({ metric: "m", tags: {}, aggregateTags: [], dps: one })), [0]);
}

test("points come as pairs or as an object; NaN and null are gaps", () => {
  const [pairs, object] = decode([[1, 5], [2, "NaN"], [3, null], [4, -1.5]], { "1": 5, "2": "NaN", "3": null, "4": -1.5 });
  for (const series of [pairs, object]) {
    assert.deepEqual([...series.times], [1, 2, 3, 4]);
    assert.deepEqual([...series.values], [5, NaN, NaN, -1.5]);
    assert.deepEqual(series.stats, { last: -1.5, min: -1.5, max: 5, avg: 1.75, count: 2 });
  }
});

test("an answer maps to the query that asked, though equal queries are answered once", () => {
  const answer = [
    { metric: "b", tags: {}, query: { index: 1 }, dps: [[1, 1]] },
    { metric: "a", tags: {}, query: { index: 0 }, dps: [[1, 1]] },
    { statsSummary: {} },
  ];
  assert.deepEqual(decodeAnswer(answer, [0, 3]).map((one) => one.query), [3, 0]);
  assert.equal(decodeSeries({ error: 1 }, []), null);
});

test("series without points have no numbers", () => {
  const [empty, gaps] = decode([], [[1, null]]);
  assert.equal(empty.stats.count, 0);
  assert.ok(Number.isNaN(gaps.stats.max));
});

test("equal times are shared, whole series stay typed arrays", () => {
  const series = decode([[1, 1], [2, 2]], [[1, 3], [2, 4]]);
  const { times, columns } = join(series);
  assert.equal(times, series[0].times);
  assert.equal(columns[1], series[1].values);
});

test("different times are united: undefined where a series has no point, null where it says so", () => {
  const { times, columns } = join(decode([[1, 1], [3, null], [5, 2]], [[2, 7], [3, 8]], []));
  assert.deepEqual([...times], [1, 2, 3, 5]);
  assert.deepEqual([...columns[0]], [1, undefined, null, 2]);
  assert.deepEqual([...columns[1]], [undefined, 7, 8, undefined]);
  assert.deepEqual([...columns[2]], [undefined, undefined, undefined, undefined]);
  assert.deepEqual([...join([]).times], []);
});

test("a long silence breaks the line, a sparse series stays whole", () => {
  const at = (...times: number[]): [number, number][] => longGaps(Float64Array.from(times));
  assert.deepEqual(at(0, 10, 20, 30, 100, 110, 120), [[30, 100]]);
  assert.deepEqual(at(0, 10, 20, 60, 70), []);
  assert.deepEqual(at(0, 1, 1000), []);
  const sparse: number[] = [];
  for (let i = 0, t = 0; i < 1000; i++) sparse.push((t += i % 3 === 0 ? 100 : 1));
  assert.deepEqual(at(...sparse), []);
});

test("labels sort their tags", () => {
  const [one] = decodeAnswer([{ metric: "m", tags: { host: "a", dc: "b" }, dps: [] }], [0]);
  assert.equal(labelOf(one), "m{dc=b,host=a}");
});

test("CSV quotes what needs it and never starts a formula", () => {
  const series = decode([[0, 1], [1000, null]]);
  const text = csvOf(join(series), ['=cmd("x"),1']);
  assert.equal(
    text,
    'time_ms,time,"\'=cmd(""x""),1"\n0,1970-01-01T00:00:00.000Z,1\n1000,1970-01-01T00:00:01.000Z,\n',
  );
});
