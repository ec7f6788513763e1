// Annotations on the graph: a line at each one's time, or a span; what it says comes up when its mark is
// pointed at or has the focus.
import type uPlot from "../../vendor/uplot/uPlot.esm.js";
import type { Note } from "../answer/notes";
import { dateTimeText } from "../base/format";
import { h, replace } from "../base/dom";
import type { Frame } from "./frame";

const kMarksMax = 300;

interface Mark {
  note: Note;
  root: HTMLElement;
}

export class NoteMarks {
  private readonly root = h("div", { class: "note-layer" });
  private readonly card = h("div", { class: "tooltip note-card", role: "status" });
  private marks: Mark[] = [];
  private shown = "";
  private frame: Frame | null = null;

  constructor() {
    this.card.hidden = true;
  }

  attach(plot: uPlot): void {
    plot.over.append(this.root, this.card);
  }

  set(frame: Frame): void {
    this.frame = frame;
    const notes = frame.notes.slice(0, kMarksMax);
    const text = JSON.stringify(notes);
    if (text === this.shown) return; // what has the focus keeps it
    this.shown = text;
    this.card.hidden = true;
    this.marks = notes.map((note) => ({ note, root: this.newMark(note) }));
    replace(this.root, ...this.marks.map(({ root }) => root));
  }

  // Where the times are now.
  place(plot: uPlot): void {
    const width = plot.over.clientWidth;
    for (const { note, root } of this.marks) {
      const from = plot.valToPos(note.start, "x");
      const to = note.end > note.start ? plot.valToPos(note.end, "x") : from;
      root.hidden = to < 0 || from > width;
      const left = Math.max(0, from);
      root.style.transform = `translateX(${Math.round(left)}px)`;
      root.style.width = `${Math.max(0, Math.round(Math.min(width, to) - left))}px`;
      root.classList.toggle("note-span", note.end > note.start);
    }
  }

  shift(px: number): void {
    this.root.style.transform = px === 0 ? "" : `translateX(${px}px)`;
  }

  private newMark(note: Note): HTMLElement {
    const root = h("div", { class: `note-mark${note.everywhere ? " note-global" : ""}` });
    const button = h("button", {
      type: "button",
      class: "note-flag",
      "aria-label": `Annotation: ${note.title}`,
      on: {
        mouseenter: () => this.tell(note, root),
        mouseleave: () => (this.card.hidden = true),
        focus: () => this.tell(note, root),
        blur: () => (this.card.hidden = true),
        mousedown: (event: Event) => event.stopPropagation(), // no zoom begins here
      },
    });
    root.append(button);
    return root;
  }

  private tell(note: Note, mark: HTMLElement): void {
    const zone = this.frame?.state.zone ?? "local";
    const times = note.end > note.start ? [note.start, note.end] : [note.start];
    replace(
      this.card,
      h("div", { class: "tooltip-time", text: times.map((time) => dateTimeText(time, zone)).join(" – ") }),
      h("div", { class: "note-title", text: note.title }),
      note.text ? h("div", { class: "note-text", text: note.text }) : null,
      ...note.tags.map(([key, value]) => h("div", { class: "muted", text: `${key}: ${value}` })),
      note.everywhere ? h("div", { class: "muted", text: "global" }) : null,
    );
    this.card.hidden = false;
    const over = this.root.parentElement as HTMLElement;
    const at = mark.getBoundingClientRect().left - over.getBoundingClientRect().left;
    const left = Math.min(Math.max(0, at - this.card.offsetWidth / 2), over.clientWidth - this.card.offsetWidth);
    const top = over.clientHeight - this.card.offsetHeight - 20;
    this.card.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}
