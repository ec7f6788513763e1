// Builds elements. Text only ever becomes a text node: nothing here parses HTML, so a name such as
// "<img onerror=...>" is shown as it is written.

type Child = Node | string | number | null | undefined | false;
type Listener = (event: any) => void;

export interface Props {
  class?: string;
  text?: string;
  on?: Record<string, Listener>;
  [attribute: string]: unknown;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  append(element, children);
  return element;
}

function apply(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value as Record<string, Listener>)) {
        element.addEventListener(event, listener);
      }
    } else if (name === "text") {
      element.textContent = String(value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

export function replace(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

let lastId = 0;

// An id for label/for and aria-* pairs, unique within the page.
export function freshId(stem: string): string {
  lastId += 1;
  return `${stem}-${lastId}`;
}

export interface Choice {
  value: string;
  text: string;
}

// A caption over a control, tied together for screen readers. `body` is what stands there where the control
// sits inside something larger.
export function field(caption: string, control: HTMLElement, className = "", body = control): HTMLElement {
  if (!control.id) control.id = freshId("field");
  return h(
    "div",
    { class: `field ${className}`.trim() },
    h("label", { for: control.id, text: caption }),
    body,
  );
}

// A <select>; a value that is not among the choices is added, so that no state is lost by showing it.
export function select(
  choices: Choice[],
  value: string,
  onChange: (value: string) => void,
): HTMLSelectElement {
  const known = choices.some((choice) => choice.value === value);
  const all = known ? choices : [...choices, { value, text: value }];
  const element: HTMLSelectElement = h("select", { on: { change: () => onChange(element.value) } });
  for (const choice of all) element.append(h("option", { value: choice.value, text: choice.text }));
  element.value = value;
  return element;
}

export function checkbox(
  caption: string,
  checked: boolean,
  onChange: (checked: boolean) => void,
  title = "",
): HTMLElement {
  const box: HTMLInputElement = h("input", {
    type: "checkbox",
    checked,
    on: { change: () => onChange(box.checked) },
  });
  return h("label", { class: "check", title: title || undefined }, box, h("span", { text: caption }));
}
