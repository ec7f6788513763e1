// The list of options under a text field (an ARIA listbox): it asks a source, and one of its options may be
// marked. The field keeps the focus.
import { freshId, h, replace } from "./dom";

export interface Option {
  value: string;
  note?: string;
  title?: string; // longer than the note
}

export interface OptionListSettings<T extends Option> {
  field: HTMLElement;
  emptyText: string; // shown where nothing fits; empty: the list closes
  onTake(option: T): void;
}

export class OptionList<T extends Option = Option> {
  readonly root: HTMLElement;
  private options: T[] = [];
  private marked = -1;
  private asking: AbortController | null = null;

  constructor(private readonly settings: OptionListSettings<T>) {
    this.root = h("ul", { class: "options", role: "listbox", id: freshId("list"), "aria-label": "Suggestions" });
    this.root.hidden = true;
    settings.field.setAttribute("aria-controls", this.root.id);
    // Not click: the field would lose the focus, and with it the list, before.
    this.root.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = (event.target as HTMLElement).closest("[role=option]");
      if (item instanceof HTMLElement) this.take(Number(item.dataset.index));
    });
  }

  get open(): boolean {
    return !this.root.hidden;
  }

  // `typed` is what is emphasised in the options.
  async ask(typed: string, source: (signal: AbortSignal) => Promise<T[]>): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    if (this.settings.emptyText) {
      this.setOpen(true);
      if (this.options.length === 0) this.note("Loading…");
    }
    try {
      const options = await source(asking.signal);
      if (asking.signal.aborted) return;
      this.options = options;
      this.show(typed);
    } catch (error) {
      if (asking.signal.aborted) return;
      this.options = [];
      this.setOpen(true);
      this.note(error instanceof Error ? error.message : "No list");
    }
  }

  move(step: number): void {
    if (this.options.length === 0) return;
    this.root.children[this.marked]?.setAttribute("aria-selected", "false");
    const from = this.marked < 0 && step < 0 ? 0 : this.marked;
    this.marked = (from + step + this.options.length) % this.options.length;
    const item = this.root.children[this.marked];
    item.setAttribute("aria-selected", "true");
    item.scrollIntoView({ block: "nearest" });
    this.settings.field.setAttribute("aria-activedescendant", item.id);
  }

  // False where none is marked.
  takeMarked(): boolean {
    if (!this.open || this.marked < 0) return false;
    this.take(this.marked);
    return true;
  }

  close(): void {
    this.asking?.abort();
    this.setOpen(false);
    this.options = [];
    this.unmark();
  }

  private take(index: number): void {
    const option = this.options[index];
    if (option) this.settings.onTake(option);
  }

  private setOpen(open: boolean): void {
    this.root.hidden = !open;
    const { field } = this.settings;
    if (field.getAttribute("role") === "combobox") field.setAttribute("aria-expanded", String(open));
  }

  private unmark(): void {
    this.marked = -1;
    this.settings.field.removeAttribute("aria-activedescendant");
  }

  private note(text: string): void {
    this.unmark();
    replace(this.root, h("li", { class: "options-note", role: "presentation", text }));
  }

  private show(typed: string): void {
    if (this.options.length === 0) {
      if (this.settings.emptyText) this.note(this.settings.emptyText);
      else this.close();
      return;
    }
    const items = this.options.map(({ value, note, title }, index) =>
      h(
        "li",
        { role: "option", id: `${this.root.id}-${index}`, "data-index": index, "aria-selected": "false", title },
        highlighted(value, typed),
        note ? h("span", { class: "option-note", text: note }) : null,
      ),
    );
    replace(this.root, ...items);
    this.unmark();
    this.setOpen(true);
    this.root.scrollTop = 0;
  }
}

function highlighted(name: string, text: string): HTMLElement {
  const at = text ? name.toLowerCase().indexOf(text.toLowerCase()) : -1;
  if (at < 0) return h("span", { class: "option-name", text: name });
  return h(
    "span",
    { class: "option-name" },
    name.slice(0, at),
    h("mark", { text: name.slice(at, at + text.length) }),
    name.slice(at + text.length),
  );
}
