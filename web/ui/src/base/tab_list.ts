// Tabs that choose what stands in a panel: arrow keys walk them, one is in the order of Tab.
import { h } from "./dom";

export interface TabListOptions {
  label: string;
  panel: HTMLElement; // with an id
  tabs: { id: string; text: string }[];
  onChoose(id: string): void;
}

export function tabList({ label, panel, tabs, onChoose }: TabListOptions): HTMLElement {
  const buttons = tabs.map(({ id, text }) =>
    h("button", { type: "button", role: "tab", id: `${panel.id}-${id}`, class: "tab", text, "aria-controls": panel.id }),
  );
  const choose = (at: number): void => {
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === at));
      button.tabIndex = i === at ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", buttons[at].id);
  };
  buttons.forEach((button, i) => {
    const take = (at: number): void => {
      choose(at);
      onChoose(tabs[at].id);
    };
    button.addEventListener("click", () => take(i));
    button.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      event.preventDefault();
      const at = (i + step + tabs.length) % tabs.length;
      take(at);
      buttons[at].focus();
    });
  });
  choose(0);
  return h("div", { class: "tabs", role: "tablist", "aria-label": label }, ...buttons);
}
