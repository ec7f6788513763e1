// One question at a time: a new one takes the place of the old, whose request is given up.
import { decodeCost } from "../answer/cost";
import { decodeNotes } from "../answer/notes";
import { pieces } from "../answer/pieces";
import { decodeSeries, type Series } from "../answer/series";
import { join } from "../answer/join";
import { pause } from "../base/pause";
import { buildQuestion } from "../question/question";
import type { State } from "../question/state";
import type { Range } from "../question/time_range";
import type { Frame } from "../views/frame";
import { isAbort, parse, postQuery } from "./api";

const kReadMs = 8; // at once: half of a frame

export type Outcome = { frame: Frame } | { error: unknown };

export class Asker {
  private running: AbortController | null = null;

  get busy(): boolean {
    return this.running !== null;
  }

  cancel(): void {
    this.running?.abort();
    this.running = null;
  }

  // Null: given up for a newer question, or cancelled.
  async ask(state: State, range: Range, widthPx: number): Promise<Outcome | null> {
    this.cancel();
    const mine = new AbortController();
    this.running = mine;
    const { body, asked } = buildQuestion(state, range, widthPx);
    try {
      const { text, ms } = await postQuery(body, mine.signal);
      const { series, others } = await read(text, asked, mine.signal);
      if (mine.signal.aborted) return null;
      this.running = null;
      const told = { notes: decodeNotes(others), cost: decodeCost(others), ms };
      return { frame: { state, range, question: body, answer: text, series, joined: join(series), ...told } };
    } catch (error) {
      if (isAbort(error) || mine.signal.aborted) return null;
      this.running = null;
      return { error };
    }
  }
}

interface Answer {
  series: Series[];
  others: unknown[]; // what the items hold besides points
}

// Without holding up the page: what the mouse does meanwhile is seen.
async function read(text: string, asked: number[], stop: AbortSignal): Promise<Answer> {
  const series: Series[] = [];
  const others: unknown[] = [];
  let begin = performance.now();
  for (const piece of pieces(text)) {
    const item = parse(piece);
    const one = decodeSeries(item, asked);
    if (one) series.push(one);
    others.push(one ? { ...(item as object), dps: undefined } : item);
    if (performance.now() - begin < kReadMs) continue;
    await pause();
    if (stop.aborted) break;
    begin = performance.now();
  }
  return { series, others };
}
