// Asks the sub-queries of a state by one POST /api/query.
import { decodeCost } from "../answer/cost";
import { decodeNotes } from "../answer/notes";
import { pieces } from "../answer/pieces";
import { decodeSeries, type Series } from "../answer/series";
import { buildQuestion } from "../question/question";
import type { State } from "../question/state";
import type { Range } from "../question/time_range";
import type { Answer } from "../views/frame";
import { kQueryPath, postQuery } from "./api";
import { slowly } from "./slowly";

export async function askOpentsdb(state: State, range: Range, widthPx: number, stop: AbortSignal): Promise<Answer> {
  const { body, asked, steps } = buildQuestion(state, range, widthPx);
  const { text, ms } = await postQuery(body, stop);
  const series: Series[] = [];
  const others: unknown[] = []; // what the items hold besides points
  const take = (item: unknown): void => {
    const one = decodeSeries(item, asked);
    if (one) series.push(one);
    others.push(one ? { ...(item as object), dps: undefined } : item);
  };
  await slowly(pieces(text), take, stop);
  return {
    request: `POST /${kQueryPath}`,
    question: body,
    answer: text,
    steps,
    series,
    notes: decodeNotes(others),
    notices: [],
    cost: decodeCost(others),
    ms,
  };
}
