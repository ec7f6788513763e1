// One answer, ready to be shown. Every view gets the same one.
import type { Joined } from "../answer/join";
import type { Cost } from "../answer/cost";
import type { Note } from "../answer/notes";
import type { Series } from "../answer/series";
import type { State } from "../question/state";
import type { Range } from "../question/time_range";

export interface Frame {
  state: State; // as it was when the question was asked
  range: Range;
  question: string; // the body of the request, JSON
  answer: string; // the body of the answer, as it came
  series: Series[];
  joined: Joined;
  notes: Note[];
  cost: Cost | null; // null: the server did not tell
  ms: number; // from asking to the last byte
}

// A way to look at an answer. To add one: implement this, and list it in explore.ts.
export interface View {
  readonly root: HTMLElement;
  show(frame: Frame): void; // called only while the view is the chosen one
}
