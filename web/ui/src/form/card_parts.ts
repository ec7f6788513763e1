// What the cards of both languages have in common: the buttons at their heads, and the axis.
import { field, h, replace, select } from "../base/dom";
import { icon, type IconName } from "../base/icons";

export interface Look {
  rightAxis: boolean;
  hidden: boolean;
}

export interface CardHead {
  query: Look; // changed in place, then onChange
  letter: string;
  alone: boolean; // the only card: it cannot be removed
  onChange(): void;
  onDuplicate(): void;
  onRemove(): void;
}

export function cardHead(head: CardHead, body: HTMLElement): HTMLElement {
  return h(
    "div",
    { class: "card-head" },
    h("span", { class: "letter", text: head.letter, "aria-hidden": "true" }),
    body,
    h("div", { class: "card-buttons" }, ...buttons(head)),
  );
}

function buttons({ query, letter, alone, onChange, onDuplicate, onRemove }: CardHead): HTMLElement[] {
  const button = (name: IconName, label: string, click: () => void): HTMLElement =>
    h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click } }, icon(name));
  const hide = button(query.hidden ? "eyeOff" : "eye", `Hide query ${letter}`, () => {
    query.hidden = !query.hidden;
    hide.setAttribute("aria-pressed", String(query.hidden));
    replace(hide, icon(query.hidden ? "eyeOff" : "eye"));
    hide.closest(".card")?.classList.toggle("card-hidden", query.hidden);
    onChange();
  });
  hide.setAttribute("aria-pressed", String(query.hidden));
  const list = [hide, button("copy", `Duplicate query ${letter}`, onDuplicate)];
  if (!alone) list.push(button("close", `Remove query ${letter}`, onRemove));
  return list;
}

export function axisField(query: Look, onChange: () => void, className = ""): HTMLElement {
  const choices = ["left", "right"].map((value) => ({ value, text: value }));
  const control = select(choices, query.rightAxis ? "right" : "left", (value) => {
    query.rightAxis = value === "right";
    onChange();
  });
  return field("Axis", control, className);
}
