// A field for an expression of PromQL, as high as its text: with completion at the cursor, and a mark where the
// server found an error.
//
// Enter takes the marked option or asks, Shift and Enter begins a line, Ctrl and Space opens the list, Escape
// closes it and then undoes. Leaving the field asks too.
import { freshId, h, replace } from "../base/dom";
import { OptionList } from "../base/option_list";
import { cursorAt, type Cursor } from "../promql/cursor";
import type { Place } from "../promql/place";
import { expressionOptions, type ExpressionOption } from "./expression_options";

const kPauseMs = 100;

export class ExpressionField {
  readonly root: HTMLElement;
  readonly input: HTMLTextAreaElement;
  private readonly behind = h("div", { class: "expression-behind", "aria-hidden": "true" }); // has the mark
  private readonly problem = h("p", { class: "problem", role: "alert", id: freshId("problem") });
  private readonly list: OptionList<ExpressionOption>;
  private committed: string;
  private cursor: Cursor | null = null; // of the list
  private timer = 0;

  constructor(
    value: string,
    private readonly onCommit: (value: string) => void,
  ) {
    this.committed = value;
    this.input = h("textarea", {
      class: "mono",
      rows: "1",
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      placeholder: "e.g. sum by (job) (rate(http_requests_total[5m]))",
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      "aria-describedby": this.problem.id,
    });
    this.input.value = value;
    this.list = new OptionList({ field: this.input, emptyText: "", onTake: (option) => this.take(option) });
    const box = h("div", { class: "expression-field combobox" }, this.behind, this.input, this.list.root);
    this.root = h("div", { class: "expression" }, box, this.problem);
    this.mark(null);
    this.listen();
  }

  // Null: nothing is wrong.
  mark(place: Place | null): void {
    const text = this.input.value;
    this.problem.hidden = place === null;
    this.problem.textContent = place?.message ?? "";
    this.input.setAttribute("aria-invalid", String(place !== null));
    const { from, to } = place ?? { from: text.length, to: text.length };
    const wrong = place && h("span", { class: "wrong", text: text.slice(from, to) || " " });
    replace(this.behind, text.slice(0, from), wrong, text.slice(to), "\u200b"); // a last empty line has its height
  }

  private listen(): void {
    this.input.addEventListener("input", () => {
      this.mark(null);
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.ask(false), kPauseMs);
    });
    this.input.addEventListener("pointerdown", () => this.close()); // the cursor goes elsewhere
    this.input.addEventListener("blur", () => {
      this.close();
      this.commit();
    });
    this.input.addEventListener("keydown", (event) => this.onKey(event));
  }

  private onKey(event: KeyboardEvent): void {
    const { open } = this.list;
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.ask(true);
    } else if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      this.list.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (this.list.takeMarked()) return;
      this.close();
      this.commit();
    } else if (event.key === "Escape" && (open || this.input.value !== this.committed)) {
      event.stopPropagation();
      if (!open) {
        this.input.value = this.committed;
        this.mark(null);
      }
      this.close();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight" || event.key === "Home" || event.key === "End") {
      this.close();
    }
  }

  // Where no word is begun: only if few completions fit, or on request.
  private ask(always: boolean): void {
    const cursor = cursorAt(this.input.value, this.input.selectionStart);
    const many = cursor?.wanted.kind === "expression" || cursor?.wanted.kind === "duration";
    if (!cursor || (many && !cursor.typed && !always)) return this.close();
    this.cursor = cursor;
    void this.list.ask(cursor.typed, (signal) => expressionOptions(cursor, signal));
  }

  private take({ insert }: ExpressionOption): void {
    const { cursor } = this;
    if (!cursor) return;
    const rest = this.input.value.slice(cursor.to);
    const text = insert.endsWith("(") && rest.startsWith("(") ? insert.slice(0, -1) : insert;
    this.input.setRangeText(text, cursor.from, cursor.to, "end");
    this.close();
    this.mark(null);
  }

  private close(): void {
    window.clearTimeout(this.timer);
    this.list.close();
  }

  private commit(): void {
    const value = this.input.value.trim();
    if (value === this.committed) return;
    this.committed = value;
    this.onCommit(value);
  }
}
