// One question at a time: a new one takes the place of the old, whose request is given up.
import { join } from "../answer/join";
import type { State } from "../question/state";
import type { Range } from "../question/time_range";
import type { Frame } from "../views/frame";
import { isAbort } from "./api";
import { askOpentsdb } from "./ask_opentsdb";
import { askPromql } from "./ask_promql";

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
    const asking = state.language === "promql" ? askPromql : askOpentsdb;
    try {
      const answer = await asking(state, range, widthPx, mine.signal);
      if (mine.signal.aborted) return null;
      this.running = null;
      return { frame: { ...answer, state, range, joined: join(answer.series) } };
    } catch (error) {
      if (isAbort(error) || mine.signal.aborted) return null;
      this.cancel(); // what else was asked with it
      return { error };
    }
  }
}
