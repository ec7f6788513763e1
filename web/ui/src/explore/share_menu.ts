// Copies what is shown: as a link, as a curl command, as a query for OpenTSDB or as expressions of PromQL.
import { copyText } from "../base/copy";
import { h } from "../base/dom";
import { icon } from "../base/icons";
import { popover } from "../base/popover";
import { curlRange, rangeRequests } from "../promql/request";
import { curlCommand, readableQuestion } from "../question/question";
import { askedOf, type State } from "../question/state";
import { resolveRange, type Range } from "../question/time_range";
import { kRangePath } from "../server/ask_promql";

export function shareMenu(state: () => State | null, widthPx: () => number): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "button button-small", id: "share" },
    icon("share"),
    "Copy as",
    icon("down"),
  );
  const shown = (): Shown | null => shownNow(state(), widthPx());
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
  const json = item("copy-json", "OpenTSDB query (JSON)", () => jsonOf(shown(), 2));
  const expressions = item("copy-promql", "PromQL", () => promqlOf(state()));
  const panel = h(
    "div",
    { class: "menu", role: "group", "aria-label": "Copy as" },
    item("copy-link", "Link to this page", () => location.href),
    item("copy-curl", "curl command", () => curlOf(shown())),
    json,
    expressions,
  );
  const menu = popover(button, panel, () => {
    const promql = state()?.language === "promql";
    json.hidden = promql;
    expressions.hidden = !promql;
  });
  menu.root.classList.add("popover-right");
  return menu.root;
}

interface Shown {
  state: State;
  range: Range;
  widthPx: number;
}

// Null: nothing that could be asked.
function shownNow(state: State | null, widthPx: number): Shown | null {
  if (!state) return null;
  const range = resolveRange(state.start, state.end, Date.now(), state.zone);
  return "error" in range ? null : { state, range, widthPx };
}

function jsonOf(shown: Shown | null, indent: number): string {
  return shown ? readableQuestion(shown.state, shown.range, shown.widthPx, indent) : "{}";
}

function curlOf(shown: Shown | null): string {
  const url = (path: string): string => new URL(path, location.href).href;
  if (shown?.state.language !== "promql") return curlCommand(url("api/query"), jsonOf(shown, 0));
  return curlRange(url(kRangePath), rangeRequests(shown.state, shown.range, shown.widthPx));
}

function promqlOf(state: State | null): string {
  return state ? askedOf(state).map(({ name }) => name).filter(Boolean).join("\n") : "";
}
