// One answer, ready to be shown. Every view gets the same one.
import type { Joined } from "../answer/join";
import type { Cost } from "../answer/cost";
import type { Note } from "../answer/notes";
import type { Notice } from "../answer/prometheus";
import type { Series } from "../answer/series";
import type { State } from "../question/state";
import type { Range } from "../question/time_range";

export interface Answer {
  request: string; // "POST /api/query?arrays"
  question: string; // the body of the request as JSON; of several requests, one below the other
  answer: string; // the body of the answer, as it came; the same
  steps: string[]; // intervals between points that were asked: "30s"
  series: Series[];
  notes: Note[];
  notices: Notice[];
  cost: Cost | null; // null: the server did not tell
  ms: number; // from asking to the last byte
}

export interface Frame extends Answer {
  state: State; // as it was when the question was asked
  range: Range;
  joined: Joined;
}

// A way to look at an answer. To add one: implement this, and list it in explore.ts.
export interface View {
  readonly root: HTMLElement;
  show(frame: Frame): void; // called only while the view is the chosen one
}
