// A text field with completion: the ARIA combobox with a list that follows what is typed.
//
// Down and Up walk the list, Enter takes the marked option or what is typed, Tab and leaving the field
// take what is typed, Escape closes the list and then undoes. What is typed need not be in the list.
import { h } from "./dom";
import { OptionList, type Option } from "./option_list";

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
  private readonly list: OptionList;
  private committed: string;
  private timer = 0;

  constructor(private readonly settings: ComboboxOptions) {
    this.committed = settings.value;
    this.input = h("input", {
      type: "text",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      autocapitalize: "off",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      placeholder: settings.placeholder,
    });
    this.input.value = settings.value;
    this.list = new OptionList({
      field: this.input,
      emptyText: settings.emptyText,
      onTake: (option) => this.take(option),
    });
    this.root = h("div", { class: "combobox" }, this.input, this.list.root);
    this.listen();
  }

  setValue(value: string): void {
    this.committed = value;
    this.input.value = value;
  }

  private listen(): void {
    this.input.addEventListener("input", () => this.askSoon());
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("click", () => !this.list.open && this.ask(""));
    this.input.addEventListener("blur", () => {
      this.close();
      this.commit();
    });
    this.input.addEventListener("keydown", (event) => this.onKey(event));
  }

  private onKey(event: KeyboardEvent): void {
    const { open } = this.list;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) this.ask(this.typed());
      else this.list.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.list.takeMarked()) return;
      this.close();
      this.commit();
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

  private ask(text: string): void {
    const typed = text.trim();
    void this.list.ask(typed, (signal) => this.settings.source(typed, signal));
  }

  private take(option: Option): void {
    const text = this.input.value;
    const separator = this.settings.separator;
    const kept = separator ? text.slice(0, text.lastIndexOf(separator) + 1) : "";
    this.input.value = kept + option.value;
    this.close();
    this.commit();
  }

  private close(): void {
    window.clearTimeout(this.timer);
    this.list.close();
  }

  private commit(): void {
    const value = this.input.value.trim();
    if (value === this.committed) return;
    this.committed = value;
    this.settings.onCommit(value);
  }
}
