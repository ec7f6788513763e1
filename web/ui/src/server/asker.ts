// One question at a time: a new one takes the place of the old, whose request is given up.
import { decodeCost } from "../answer/cost";
import { decodeNotes } from "../answer/notes";
import { decodeAnswer } from "../answer/series";
import { join } from "../answer/join";
import { buildQuestion } from "../question/question";
import type { State } from "../question/state";
import type { Range } from "../question/time_range";
import type { Frame } from "../views/frame";
import { isAbort, parse, postQuery } from "./api";

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
      const answer = parse(text);
      const series = decodeAnswer(answer, asked);
      if (mine.signal.aborted) return null;
      this.running = null;
      const told = { notes: decodeNotes(answer), cost: decodeCost(answer), ms };
      return { frame: { state, range, question: body, answer: text, series, joined: join(series), ...told } };
    } catch (error) {
      if (isAbort(error) || mine.signal.aborted) return null;
      this.running = null;
      return { error };
    }
  }
}
