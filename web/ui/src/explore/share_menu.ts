// Copies what is shown: as a link, as a curl command, as a query for OpenTSDB.
import { copyText } from "../base/copy";
import { h } from "../base/dom";
import { icon } from "../base/icons";
import { popover } from "../base/popover";
import { curlCommand, readableQuestion } from "../question/question";
import type { State } from "../question/state";
import { resolveRange } from "../question/time_range";

export function shareMenu(state: () => State | null, widthPx: () => number): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "button button-small", id: "share" },
    icon("share"),
    "Copy as",
    icon("down"),
  );
  const json = (indent: number): string => questionOf(state(), widthPx(), indent);
  const item = (id: string, text: string, copied: () => string): HTMLElement =>
    h("button", {
      type: "button",
      class: "menu-item",
      id,
      text,
      on: {
        click: () => {
          menu.close();
          button.focus();
          void copyText(copied(), text);
        },
      },
    });
  const panel = h(
    "div",
    { class: "menu", role: "group", "aria-label": "Copy as" },
    item("copy-link", "Link to this page", () => location.href),
    item("copy-curl", "curl command", () => curlCommand(new URL("api/query", location.href).href, json(0))),
    item("copy-json", "OpenTSDB query (JSON)", () => json(2)),
  );
  const menu = popover(button, panel);
  menu.root.classList.add("popover-right");
  return menu.root;
}

function questionOf(state: State | null, widthPx: number, indent: number): string {
  if (!state) return "{}";
  const range = resolveRange(state.start, state.end, Date.now(), state.zone);
  return "error" in range ? "{}" : readableQuestion(state, range, widthPx, indent);
}
