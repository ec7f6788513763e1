// A text field with completion: the ARIA combobox with a list that follows what is typed.
//
// Down and Up walk the list, Enter takes the marked option or what is typed, Tab and leaving the field
// take what is typed, Escape closes the list and then undoes. What is typed need not be in the list.
import { freshId, h, replace } from "./dom";

export interface Option {
  value: string;
  note?: string;
}

export interface ComboboxOptions {
  value: string;
  placeholder?: string;
  separator?: string; // the field holds several values; the one after the last separator is completed
  emptyText: string; // shown where nothing fits
  source(text: string, signal: AbortSignal): Promise<Option[]>;
  onCommit(value: string): void;
}

const kPauseMs = 100;

export class Combobox {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private options: Option[] = [];
  private marked = -1;
  private committed: string;
  private timer = 0;
  private asking: AbortController | null = null;

  constructor(private readonly settings: ComboboxOptions) {
    this.committed = settings.value;
    const listId = freshId("list");
    this.input = h("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      autocapitalize: "off",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": listId,
      placeholder: settings.placeholder,
    });
    this.input.value = settings.value;
    this.list = h("ul", { class: "options", role: "listbox", id: listId });
    this.list.hidden = true;
    this.root = h("div", { class: "combobox" }, this.input, this.list);
    this.listen();
  }

  setValue(value: string): void {
    this.committed = value;
    this.input.value = value;
  }

  private listen(): void {
    this.input.addEventListener("input", () => this.askSoon());
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("click", () => this.list.hidden && this.ask(""));
    this.input.addEventListener("blur", () => {
      this.close();
      this.commit();
    });
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    // Not click: the field would lose the focus, and with it the list, before.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = (event.target as HTMLElement).closest("[role=option]");
      if (item instanceof HTMLElement) this.take(Number(item.dataset.index));
    });
  }

  private onKey(event: KeyboardEvent): void {
    const open = !this.list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) this.ask(this.typed());
      else this.mark(this.marked + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (open && this.marked >= 0) this.take(this.marked);
      else {
        this.close();
        this.commit();
      }
    } else if (event.key === "Escape" && (open || this.input.value !== this.committed)) {
      event.stopPropagation();
      if (open) this.close();
      else this.input.value = this.committed;
    }
  }

  // What the list should fit: the text after the last separator.
  private typed(): string {
    const text = this.input.value;
    if (!this.settings.separator) return text;
    return text.slice(text.lastIndexOf(this.settings.separator) + 1);
  }

  private askSoon(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.ask(this.typed()), kPauseMs);
  }

  private async ask(text: string): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (this.options.length === 0) this.note("Loading…");
    try {
      const options = await this.settings.source(text.trim(), asking.signal);
      if (asking.signal.aborted) return;
      this.options = options;
      this.show(text.trim());
    } catch (error) {
      if (asking.signal.aborted) return;
      this.options = [];
      this.note(error instanceof Error ? error.message : "No list");
    }
  }

  private note(text: string): void {
    this.marked = -1;
    this.input.removeAttribute("aria-activedescendant");
    replace(this.list, h("li", { class: "options-note", role: "presentation", text }));
  }

  private show(text: string): void {
    if (this.options.length === 0) {
      this.note(this.settings.emptyText);
      return;
    }
    const items = this.options.map((option, index) =>
      h(
        "li",
        { role: "option", id: `${this.list.id}-${index}`, "data-index": index, "aria-selected": "false" },
        highlighted(option.value, text),
        option.note ? h("span", { class: "option-note", text: option.note }) : null,
      ),
    );
    replace(this.list, ...items);
    this.marked = -1;
    this.input.removeAttribute("aria-activedescendant");
    this.list.scrollTop = 0;
  }

  private mark(index: number): void {
    if (this.options.length === 0) return;
    this.list.children[this.marked]?.setAttribute("aria-selected", "false");
    this.marked = (index + this.options.length) % this.options.length;
    const item = this.list.children[this.marked];
    item.setAttribute("aria-selected", "true");
    item.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", item.id);
  }

  private take(index: number): void {
    const option = this.options[index];
    if (!option) return;
    const text = this.input.value;
    const separator = this.settings.separator;
    const kept = separator ? text.slice(0, text.lastIndexOf(separator) + 1) : "";
    this.input.value = kept + option.value;
    this.close();
    this.commit();
  }

  private close(): void {
    window.clearTimeout(this.timer);
    this.asking?.abort();
    this.list.hidden = true;
    this.options = [];
    this.marked = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  private commit(): void {
    const value = this.input.value.trim();
    if (value === this.committed) return;
    this.committed = value;
    this.settings.onCommit(value);
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
