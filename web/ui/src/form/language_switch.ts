// In which language the queries are written.
import { freshId, h } from "../base/dom";
import type { Language } from "../question/state";

const kLanguages: { id: Language; text: string }[] = [
  { id: "opentsdb", text: "OpenTSDB" },
  { id: "promql", text: "PromQL" },
];

export class LanguageSwitch {
  readonly root: HTMLElement;
  private readonly inputs: HTMLInputElement[];

  constructor(onChange: (language: Language) => void) {
    const name = freshId("language");
    this.inputs = kLanguages.map(({ id }) =>
      h("input", { type: "radio", name, id: `language-${id}`, value: id, on: { change: () => onChange(id) } }),
    );
    const labels = kLanguages.map(({ text }, i) =>
      h("label", { class: "segment" }, this.inputs[i], h("span", { text })),
    );
    this.root = h("fieldset", { class: "segments" }, h("legend", { class: "offscreen", text: "Query language" }), ...labels);
  }

  set(language: Language): void {
    for (const input of this.inputs) input.checked = input.value === language;
  }
}
