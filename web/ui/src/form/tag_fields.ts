// Tags of one sub-query: chips that split the graph by a tag, and filters on tag values.
import { Combobox } from "../base/combobox";
import { field, h, replace, select, checkbox } from "../base/dom";
import { compact } from "../base/format";
import { icon } from "../base/icons";
import type { Filter, SubQuery } from "../question/state";
import { findTagKeys, findTagValues, tagsOf, type TagSummary } from "../server/names";

const kTypes = [
  { value: "literal_or", text: "is" },
  { value: "not_literal_or", text: "is not" },
  { value: "wildcard", text: "matches *" },
  { value: "regexp", text: "matches regexp" },
  { value: "iliteral_or", text: "is, any case" },
  { value: "not_iliteral_or", text: "is not, any case" },
  { value: "iwildcard", text: "matches *, any case" },
];

const kPlaceholders: Record<string, string> = {
  wildcard: "web*",
  iwildcard: "web*",
  regexp: "^web[0-9]+$",
};

// "Any value, one line each": what a chip stands for.
function isSplit(filter: Filter): boolean {
  return filter.groupBy && filter.type === "wildcard" && filter.value === "*";
}

export class TagFields {
  readonly root: HTMLElement;
  private readonly chips: HTMLElement;
  private readonly rows: HTMLElement;
  private readonly exact: HTMLElement;
  private drafts: Filter[] = []; // rows without a tag or value yet: not part of the query
  private chipOf = new Map<string, HTMLElement>(); // by tag key, in the order shown
  private known: TagSummary | null = null;
  private loads = 0;

  constructor(
    private readonly query: SubQuery,
    private readonly onChange: () => void,
  ) {
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Split by tag" });
    this.rows = h("div", { class: "filters" });
    this.exact = h("div");
    const add = h(
      "button",
      { type: "button", class: "button button-small add-filter", on: { click: () => this.addDraft() } },
      icon("plus"),
      "Filter",
    );
    this.root = h(
      "div",
      { class: "tags" },
      h("div", { class: "chips-row" }, h("span", { class: "caption", text: "Split by" }), this.chips, add),
      this.rows,
      this.exact,
    );
    this.reload();
  }

  // The metric has changed.
  reload(): void {
    this.known = null;
    this.show();
    this.load();
  }

  private async load(): Promise<void> {
    const mine = ++this.loads;
    if (!this.query.metric) return;
    try {
      const known = await tagsOf(this.query.metric);
      if (mine !== this.loads) return;
      this.known = known;
      this.showChips();
    } catch {
      // The chips stay those of the query; the query itself will tell what is wrong with the server.
    }
  }

  private show(): void {
    this.showChips();
    this.showRows();
  }

  private changed(): void {
    this.showChips();
    this.showExact();
    this.onChange();
  }

  private showChips(): void {
    const keys = new Set<string>(this.known ? [...this.known.keys.keys()].sort() : []);
    for (const filter of this.query.filters) keys.add(filter.tagk);
    if (keys.size === 0) {
      this.chipOf.clear();
      const text = this.query.metric ? "no tags" : "choose a metric first";
      replace(this.chips, h("span", { class: "muted", text }));
      return;
    }
    // A chip outlives the change: leaving a field may change the query between press and release on a chip.
    const before = this.chipOf;
    this.chipOf = new Map([...keys].map((key) => [key, before.get(key) ?? this.newChip(key)]));
    const chips = [...this.chipOf.values()];
    if (chips.length !== this.chips.children.length || chips.some((chip, i) => chip !== this.chips.children[i])) {
      replace(this.chips, ...chips);
    }
    for (const [key, chip] of this.chipOf) this.showChip(key, chip);
  }

  private newChip(key: string): HTMLElement {
    return h("button", { type: "button", class: "chip", on: { click: () => this.toggleSplit(key) } });
  }

  private showChip(key: string, chip: HTMLElement): void {
    const pressed = this.query.filters.some((filter) => filter.tagk === key && filter.groupBy);
    const values = this.known?.keys.get(key)?.values;
    chip.setAttribute("aria-pressed", String(pressed));
    chip.title = pressed ? `One line per ${key}: click to combine them` : `Draw one line per ${key}`;
    const text = values === undefined ? "" : compact(values);
    if (chip.textContent === key + text) return;
    replace(chip, key, values !== undefined ? h("span", { class: "chip-count", text }) : null);
  }

  private toggleSplit(key: string): void {
    const filters = this.query.filters.filter((filter) => filter.tagk === key);
    const on = filters.some((filter) => filter.groupBy);
    if (on) {
      this.query.filters = this.query.filters.filter((filter) => filter.tagk !== key || !isSplit(filter));
      for (const filter of filters) filter.groupBy = false;
    } else if (filters.length > 0) {
      for (const filter of filters) filter.groupBy = true;
    } else {
      this.query.filters.push({ tagk: key, type: "wildcard", value: "*", groupBy: true });
    }
    this.changed();
    this.showRows();
    this.chipOf.get(key)?.focus();
  }

  private addDraft(): void {
    this.drafts.push({ tagk: "", type: "literal_or", value: "", groupBy: false });
    this.showRows();
    const inputs = this.rows.querySelectorAll<HTMLInputElement>(".filter:last-child input[role=combobox]");
    inputs[0]?.focus();
  }

  private showRows(): void {
    const filters = this.query.filters.filter((filter) => !isSplit(filter));
    replace(this.rows, ...[...filters, ...this.drafts].map((filter) => this.row(filter)));
    this.showExact();
  }

  private showExact(): void {
    if (this.query.filters.length === 0) {
      replace(this.exact);
      return;
    }
    const box = checkbox(
      "Only series with exactly these tags",
      this.query.explicitTags,
      (checked) => {
        this.query.explicitTags = checked;
        this.onChange();
      },
      "Excludes series that have any other tag",
    );
    replace(this.exact, box);
  }

  // A row becomes part of the query once it has a tag and a value, and leaves it when it loses one.
  private edited(filter: Filter): void {
    const whole = filter.tagk !== "" && filter.value !== "";
    const inQuery = this.query.filters.includes(filter);
    if (whole && !inQuery) {
      this.drafts = this.drafts.filter((draft) => draft !== filter);
      this.query.filters.push(filter);
    } else if (!whole && inQuery) {
      this.query.filters = this.query.filters.filter((other) => other !== filter);
      this.drafts.push(filter);
    }
    if (whole || inQuery) this.changed();
  }

  private remove(filter: Filter): void {
    const inQuery = this.query.filters.includes(filter);
    this.query.filters = this.query.filters.filter((other) => other !== filter);
    this.drafts = this.drafts.filter((draft) => draft !== filter);
    this.showRows();
    if (inQuery) this.changed();
  }

  private row(filter: Filter): HTMLElement {
    const key = new Combobox({
      value: filter.tagk,
      placeholder: "host",
      emptyText: "No such tag",
      source: async (text, signal) =>
        (await findTagKeys(this.query.metric, text, signal)).map(({ name, note }) => ({ value: name, note })),
      onCommit: (value) => {
        filter.tagk = value;
        this.edited(filter);
      },
    });
    const values = this.valueBox(filter);
    const type = select(kTypes, filter.type, (chosen) => {
      filter.type = chosen;
      values.input.placeholder = kPlaceholders[chosen] ?? "web01|web02";
      this.edited(filter);
    });
    const remove = h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": "Remove filter",
        title: "Remove filter",
        on: { click: () => this.remove(filter) },
      },
      icon("close"),
    );
    const labelled = (caption: string, box: Combobox): HTMLElement =>
      field(caption, box.input, "grow", box.root);
    return h(
      "div",
      { class: "filter", role: "group", "aria-label": "Filter" },
      labelled("Tag", key),
      field("Test", type, "filter-type"),
      labelled("Value", values),
      remove,
    );
  }

  private valueBox(filter: Filter): Combobox {
    const lists = (): boolean => filter.type.endsWith("literal_or");
    return new Combobox({
      value: filter.value,
      placeholder: kPlaceholders[filter.type] ?? "web01|web02",
      separator: "|",
      emptyText: "No such value",
      source: async (text, signal) => {
        const wanted = lists() ? text : text.replace(/[*^$].*$/, "");
        const names = await findTagValues(this.query.metric, filter.tagk, wanted, signal);
        return names.map(({ name, note }) => ({ value: name, note }));
      },
      onCommit: (value) => {
        filter.value = value;
        this.edited(filter);
      },
    });
  }
}
