// Tabs that choose what stands in a panel: arrow keys walk them, one is in the order of Tab.
import { h } from "./dom";

export interface TabListOptions {
  label: string;
  panel: HTMLElement; // with an id
  tabs: { id: string; text: string; mark?: HTMLElement }[]; // the mark stands behind the text
  onChoose(id: string): void;
}

export interface TabList {
  root: HTMLElement;
  choose(id: string): void; // as by a click; nothing if there is no such tab
}

export function tabList({ label, panel, tabs, onChoose }: TabListOptions): TabList {
  const buttons = tabs.map(({ id, text, mark }) =>
    h("button", { type: "button", role: "tab", id: `${panel.id}-${id}`, class: "tab", "aria-controls": panel.id }, text, mark),
  );
  const select = (at: number): void => {
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === at));
      button.tabIndex = i === at ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", buttons[at].id);
  };
  const take = (at: number): void => {
    select(at);
    onChoose(tabs[at].id);
  };
  buttons.forEach((button, i) => {
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
  select(0);
  return {
    root: h("div", { class: "tabs", role: "tablist", "aria-label": label }, ...buttons),
    choose: (id) => {
      const at = tabs.findIndex((tab) => tab.id === id);
      if (at >= 0) take(at);
    },
  };
}
