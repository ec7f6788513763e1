import assert from "node:assert/strict";
import test from "node:test";
import { newState, newSubQuery, type State } from "../../../web/ui/src/question/state";
import { parseUrl, printUrl } from "../../../web/ui/src/question/url";

function roundTrip(state: State): State {
  const { state: back, errors } = parseUrl(printUrl(state));
  assert.deepEqual(errors, []);
  return back;
}

test("everything that can be set comes back from the URL", () => {
  const state = newState();
  state.start = "1700000000000";
  state.end = "1700003600000";
  state.zone = "utc";
  state.refreshSeconds = 30;
  state.view = "table";
  state.logScale = true;
  state.fromZero = true;
  const first = newSubQuery("sys.cpu.user");
  first.filters = [{ tagk: "host", type: "regexp", value: "^web[0-9]{2}&#?+ü$", groupBy: true }];
  first.rightAxis = true;
  const second = newSubQuery("sys.cpu.user");
  second.aggregator = "p99";
  second.downsample = null;
  second.rate = { counter: true, counterMax: "65535", resetValue: "10", dropResets: true };
  second.explicitTags = true;
  second.hidden = true;
  state.queries = [first, second];
  assert.deepEqual(roundTrip(state), state);
});

test("defaults are left out", () => {
  const state = newState();
  state.queries = [newSubQuery("m")];
  assert.equal(printUrl(state), "#start=1h-ago&m=sum:auto-avg:m");
  assert.deepEqual(roundTrip(state), state);
});

test("the options of a query keep their place where an earlier query has none", () => {
  const state = newState();
  state.queries = [newSubQuery("a"), newSubQuery("b"), newSubQuery("c")];
  state.queries[1].rightAxis = true;
  assert.deepEqual(roundTrip(state), state);
});

test("nothing in a URL can end a pair early or reach a chat program's link cutter", () => {
  const state = newState();
  state.queries = [newSubQuery("<img src=x onerror=alert(1)>&end=1 {}|\"'")];
  const url = printUrl(state);
  assert.ok(!/[<>{}|"\s]/.test(url), url);
  assert.deepEqual(roundTrip(state), state);
});

test("a link of OpenTSDB's own page is understood", () => {
  const { state, errors } = parseUrl(
    "#start=2013/01/01-00:00:00&end=2013/01/02-00:00:00&m=sum:10m-avg:rate:sys.cpu.nice{host=web*}&o=axis%20x1y2" +
      "&yrange=%5B0:%5D&key=out%20center%20top%20horiz&wxh=1900x500&style=linespoint&ylog&tz=UTC&autoreload=15",
  );
  assert.deepEqual(errors, []);
  assert.equal(state.queries[0].metric, "sys.cpu.nice");
  assert.ok(state.queries[0].rightAxis && state.queries[0].rate && state.fromZero && state.logScale);
  assert.equal(state.start, "2013/01/01-00:00:00");
  assert.equal(state.zone, "utc");
  assert.equal(state.refreshSeconds, 15);
});

test("a query that cannot be read is named, the rest of the link holds", () => {
  const { state, errors } = parseUrl("#start=2h-ago&m=nonsense&m=sum:good");
  assert.equal(errors.length, 1);
  assert.ok(errors[0].includes("nonsense"));
  assert.equal(state.start, "2h-ago");
  assert.deepEqual(state.queries.map((query) => query.metric), ["good"]);
});

test("no hash, an empty hash and broken escapes give the defaults", () => {
  for (const hash of ["", "#", "#&&", "#start=", "#autoreload=abc", "#view=nosuch"]) {
    assert.deepEqual(parseUrl(hash).state, { ...newState(), queries: [] }, hash);
  }
  assert.equal(parseUrl("#start=%E0%A4").state.start, "%E0%A4");
});
