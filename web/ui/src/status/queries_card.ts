// Queries that run, with a button to stop each, and the slowest of the last ones.
import { toast } from "../base/copy";
import { h, replace } from "../base/dom";
import { clockText, compact, elapsed } from "../base/format";
import { icon } from "../base/icons";
import { cancelQuery, type DoneQuery, type Queries, type RunningQuery } from "../server/status";
import { card, table, type Part } from "./parts";
import { querySteps } from "./query_steps";
import { queryText } from "./query_text";

const kSlowMax = 15;

export class QueriesCard implements Part {
  readonly root: HTMLElement;
  private readonly running = h("div", { class: "running" });
  private readonly slow = h("div", { class: "slow" });
  private shown = "";
  private readonly opened = new Set<number>(); // queries that show their steps

  constructor(private readonly onChange: () => void) {
    this.root = card("Queries", "card-wide", this.running, this.slow);
  }

  show(queries: Queries): void {
    this.showRunning(queries.running);
    const slow = [...queries.completed].sort((a, b) => b.elapsedMs - a.elapsedMs).slice(0, kSlowMax);
    const key = slow.map(({ id }) => id).join();
    if (key === this.shown) return;
    this.shown = key;
    replace(this.slow, h("h3", { text: "Slowest recent queries" }), slow.length ? slowTable(slow, this.opened) : h("p", { class: "muted", text: "No queries yet." }));
  }

  private showRunning(queries: RunningQuery[]): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.query;
    const rows = queries.map((query) => [elapsed(query.elapsedMs), query.remote.replace(/^\//, ""), asked(query), this.stopButton(query)]);
    const columns = [{ text: "Runs for", number: true }, { text: "Client" }, { text: "Query", long: true }, { text: "" }];
    replace(
      this.running,
      h("h3", { text: "Running" }),
      rows.length ? table("Running queries", columns, rows) : h("p", { class: "muted", text: "None." }),
    );
    if (focused) this.running.querySelector<HTMLElement>(`[data-query="${focused}"]`)?.focus();
  }

  private stopButton(query: RunningQuery): HTMLElement {
    const button = h(
      "button",
      { type: "button", class: "button button-small stop-query", "data-query": query.id, disabled: query.cancelled },
      icon("stop"),
      query.cancelled ? "Stopping…" : "Cancel",
    );
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const found = await cancelQuery(query.id);
        toast(found ? "The query is being stopped" : "The query has already ended");
      } catch (error) {
        toast(error instanceof Error ? error.message : String(error));
      }
      this.onChange();
    });
    return button;
  }
}

function asked({ query }: RunningQuery): HTMLElement {
  return h("code", { class: "asked", text: queryText(query) });
}

function slowTable(queries: DoneQuery[], opened: Set<number>): HTMLElement {
  const rows = queries.map((query) => [
    clockText(Math.floor(query.begin / 1000) * 1000, "local"),
    elapsed(query.status === 200 ? query.cost.ms : query.elapsedMs),
    compact(query.cost.series),
    compact(query.cost.pointsRead),
    query.cancelled ? "cancelled" : query.status === 200 ? "ok" : `${query.status}: ${query.error}`,
    querySteps(query, opened),
    asked(query),
  ]);
  const columns = [
    { text: "Time" },
    { text: "Took", number: true },
    { text: "Series", number: true },
    { text: "Points read", number: true },
    { text: "Outcome", long: true },
    { text: "Steps" },
    { text: "Query", long: true },
  ];
  return table("Slowest recent queries", columns, rows);
}
