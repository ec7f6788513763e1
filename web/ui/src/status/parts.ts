// What the cards of the status page are made of.
import { h } from "../base/dom";

// A part of the page that shows what was read; it keeps its place while that is read again.
export interface Part {
  readonly root: HTMLElement;
}

export function card(title: string, className: string, ...children: (Node | null)[]): HTMLElement {
  const root = h("section", { class: `panel status-card ${className}`, "aria-label": title }, h("h2", { text: title }));
  for (const child of children) if (child) root.append(child);
  return root;
}

export interface Fact {
  name: string;
  value: string;
  title?: string;
  bad?: boolean;
}

export function facts(list: Fact[]): HTMLElement {
  return h(
    "dl",
    { class: "facts" },
    ...list.map(({ name, value, title, bad }) =>
      h("div", { title }, h("dt", { text: name }), h("dd", { class: bad ? "bad" : undefined, text: value })),
    ),
  );
}

export interface Column {
  text: string;
  number?: boolean;
  long?: boolean; // its cells may be broken into lines
}

export function table(caption: string, columns: Column[], rows: (string | Node)[][]): HTMLElement {
  const cell = (content: string | Node, { number, long }: Column): HTMLElement =>
    h("td", { class: number ? "number" : long ? "long" : undefined }, content);
  return h(
    "div",
    { class: "status-table", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "offscreen", text: caption }),
      h("thead", {}, h("tr", {}, ...columns.map(({ text, number }) => h("th", { scope: "col", class: number ? "number" : undefined, text })))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((content, i) => cell(content, columns[i]))))),
    ),
  );
}
