// The answer as a table, newest row first, and as a CSV file.
import { csvOf } from "../answer/csv";
import { labelOf } from "../answer/series";
import { download } from "../base/copy";
import { h, replace } from "../base/dom";
import { count, dateTimeText, exact } from "../base/format";
import { zoneText } from "../base/zone";
import { icon } from "../base/icons";
import type { Frame, View } from "./frame";

const kRowsStep = 500;
const kColumnsMax = 200;

export class TableView implements View {
  readonly root = h("div", { class: "table-view" });
  private frame: Frame | null = null;
  private rowsMax = kRowsStep;

  show(frame: Frame): void {
    if (this.frame?.question !== frame.question) this.rowsMax = kRowsStep;
    this.frame = frame;
    this.rebuild();
  }

  private rebuild(): void {
    const frame = this.frame;
    if (!frame) return;
    const { joined } = frame;
    const shown = Math.min(joined.times.length, this.rowsMax);
    const columns = Math.min(joined.columns.length, kColumnsMax);
    const labels = frame.series.map(labelOf);
    const head = h(
      "tr",
      {},
      h("th", { scope: "col", text: `Time (${zoneText(frame.state.zone)})` }),
      ...labels.slice(0, columns).map((text) => h("th", { scope: "col", class: "number", text })),
    );
    const rows: HTMLElement[] = [];
    for (let i = joined.times.length - 1; i >= joined.times.length - shown; i--) {
      const cells = joined.columns
        .slice(0, columns)
        .map((column) => h("td", { class: "number", text: exact(column[i] ?? NaN) }));
      rows.push(h("tr", {}, h("th", { scope: "row", text: dateTimeText(joined.times[i], frame.state.zone) }), ...cells));
    }
    replace(
      this.root,
      this.toolbar(frame, labels, shown, columns),
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Points" },
        h("table", { class: "points" }, h("thead", {}, head), h("tbody", {}, ...rows)),
      ),
      this.moreButton(joined.times.length, shown),
    );
  }

  private toolbar(frame: Frame, labels: string[], shown: number, columns: number): HTMLElement {
    const all = frame.joined.times.length;
    const rows = shown === all ? count(all, "row") : `${shown} of ${count(all, "row")}`;
    const cut = columns < labels.length ? `, ${columns} of ${labels.length} series; the file has all` : "";
    return h(
      "div",
      { class: "view-bar" },
      h("span", { class: "muted", text: rows + cut }),
      h(
        "button",
        {
          type: "button",
          class: "button button-small",
          on: { click: () => download("halite.csv", "text/csv", csvOf(frame.joined, labels)) },
        },
        icon("download"),
        "CSV file",
      ),
    );
  }

  private moreButton(all: number, shown: number): HTMLElement | null {
    if (shown === all) return null;
    const button = h("button", { type: "button", class: "button", text: `Show ${kRowsStep} more rows` });
    button.addEventListener("click", () => {
      this.rowsMax += kRowsStep;
      this.rebuild();
    });
    return button;
  }
}
