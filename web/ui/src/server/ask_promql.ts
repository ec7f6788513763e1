// Asks the expressions of a state by one POST /prometheus/api/v1/query_range each, all at the same time.
import type { Cost } from "../answer/cost";
import { decodeMatrixSeries, decodeNotices, decodeStats, resultPieces, sumCosts, type Notice } from "../answer/prometheus";
import type { Series } from "../answer/series";
import { rangeRequests, stepOf, type RangeRequest } from "../promql/request";
import type { State } from "../question/state";
import type { Range } from "../question/time_range";
import type { Answer } from "../views/frame";
import { ApiError, parse, postForm } from "./api";
import { slowly } from "./slowly";

export const kRangePath = "prometheus/api/v1/query_range";

interface Told {
  text: string;
  series: Series[];
  notices: Notice[];
  cost: Cost | null;
  ms: number;
}

export async function askPromql(state: State, range: Range, widthPx: number, stop: AbortSignal): Promise<Answer> {
  const step = stepOf(state, range, widthPx);
  const requests = rangeRequests(state, range, widthPx);
  const told = await Promise.all(requests.map((request) => askOne(request, step.ms, stop)));
  const notices = new Map(told.flatMap((one) => one.notices).map((notice) => [notice.text, notice]));
  return {
    request: `POST /${kRangePath}`,
    question: requests.map(({ parameters }) => JSON.stringify(Object.fromEntries(parameters), null, 2)).join("\n"),
    answer: told.map(({ text }) => text).join("\n"),
    steps: [step.text],
    series: told.flatMap(({ series }) => series),
    notes: [],
    notices: [...notices.values()],
    cost: sumCosts(told.map(({ cost }) => cost)),
    ms: Math.max(...told.map(({ ms }) => ms)),
  };
}

async function askOne({ asked, parameters }: RangeRequest, stepMs: number | null, stop: AbortSignal): Promise<Told> {
  try {
    const { text, ms } = await postForm(kRangePath, [...parameters, ["stats", "true"]], stop);
    const expression = { place: asked, text: parameters[0][1], stepMs };
    const series: Series[] = [];
    const rest = await slowly(resultPieces(text), (item) => series.push(decodeMatrixSeries(item, expression)), stop);
    const envelope = rest === null ? {} : parse(rest);
    const points = series.reduce((n, { times }) => n + times.length, 0);
    return { text, series, notices: decodeNotices(envelope), cost: decodeStats(envelope, points), ms };
  } catch (error) {
    if (error instanceof ApiError) error.query = asked;
    throw error;
  }
}
