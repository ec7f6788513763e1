import assert from "node:assert/strict";
import test from "node:test";
import { pieces } from "../../../web/ui/src/answer/pieces";
import { decodeSeries } from "../../../web/ui/src/answer/series";

const read = (text: string): unknown[] => [...pieces(text)].map((piece) => JSON.parse(piece));

test("the pieces of a list are its items", () => {
  for (const list of [
    [],
    [1],
    [1, "a,b]", null, true, -2.5e-7],
    [{}, [], [[]], { a: [] }],
    [{ metric: 'a"b\\', tags: { "[{": "}]," }, dps: [[1, 2.5], [2, "NaN"]] }, { statsSummary: { x: { y: [1] } } }],
    ["\\", "\\\\", '\\"', "\u{1f600}", "]"],
  ]) {
    assert.deepEqual(read(JSON.stringify(list)), list);
    assert.deepEqual(read(` \r\n${JSON.stringify(list, null, 2)}\t\n`), list);
  }
});

test("what is no list comes as a whole", () => {
  assert.deepEqual([...pieces('{"a":1}')], ['{"a":1}']);
  assert.deepEqual([...pieces("")], [""]);
});

test("no text that JSON.parse refuses is read without an error", () => {
  const whole = JSON.stringify([{ metric: 'm"', dps: [[1, 2]] }, "x\\", { statsSummary: {} }]);
  for (let length = 0; length < whole.length; length++) assert.throws(() => read(whole.slice(0, length)), whole.slice(0, length));
  for (const text of ["[1]]", "[1] x", "[1,]", "[,1]", "[1 2]", "[}]", "[1}", "[[1}]", '["a]', "[{]", "[1],[2]", "]"]) {
    assert.throws(() => read(text), text);
  }
});

test("an item without points is no series", () => {
  assert.equal(decodeSeries({ statsSummary: {} }, [0]), null);
  assert.equal(decodeSeries(null, [0]), null);
  const one = decodeSeries({ metric: "m", tags: { a: "b" }, query: { index: 1 }, dps: [[1000, 5], [2000, "NaN"]] }, [0, 3]);
  assert.equal(one?.query, 3);
  assert.deepEqual([...(one?.times ?? [])], [1000, 2000]);
  assert.deepEqual([...(one?.values ?? [])], [5, NaN]);
});
