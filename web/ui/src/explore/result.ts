// The right-hand side: tabs over the views, what the answer amounts to, errors, loading, and copying.
import type { Notice } from "../answer/prometheus";
import { h, replace, checkbox } from "../base/dom";
import { bytes, count, elapsed } from "../base/format";
import { icon } from "../base/icons";
import type { State, ViewId } from "../question/state";
import { ApiError } from "../server/api";
import { adviceFor } from "../server/advice";
import type { Frame, View } from "../views/frame";
import { Graph, type GraphEvents } from "../views/graph";
import { JsonView } from "../views/json";
import { TableView } from "../views/table";
import { CostBar } from "./cost_bar";
import { shareMenu } from "./share_menu";

export interface ResultEvents extends GraphEvents {
  onChange(change: Partial<State>): void;
  onCancel(): void;
  onRetry(): void;
}

const kTabs: { id: ViewId; text: string }[] = [
  { id: "graph", text: "Graph" },
  { id: "table", text: "Table" },
  { id: "json", text: "JSON" },
];

const kSlowMs = 400; // a quicker answer needs no sign that it is awaited

export class Result {
  readonly root: HTMLElement;
  private readonly graph: Graph;
  private readonly views: Record<ViewId, View>;
  private readonly tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "View" });
  private readonly options = h("div", { class: "graph-options" });
  private readonly panel = h("div", { class: "panel-body", role: "tabpanel", id: "view-panel", tabindex: "-1" });
  private readonly notice = h("div", { class: "notice" });
  private readonly warning = h("p", { class: "warning", role: "alert" });
  private readonly told = h("ul", { class: "told", role: "status" }); // warnings and infos of the answer
  private readonly status = h("span", { class: "status muted", role: "status" });
  private readonly cost = new CostBar();
  private readonly progress = h("div", { class: "progress" });
  private readonly cancelButton: HTMLButtonElement;
  private state: State | null = null;
  private frame: Frame | null = null;
  private slowTimer = 0;

  constructor(private readonly events: ResultEvents) {
    this.graph = new Graph(events);
    this.views = { graph: this.graph, table: new TableView(), json: new JsonView() };
    this.cancelButton = h(
      "button",
      { type: "button", class: "button button-small cancel", on: { click: () => events.onCancel() } },
      icon("stop"),
      "Cancel",
    );
    this.cancelButton.hidden = true;
    this.notice.hidden = true;
    this.warning.hidden = true;
    this.told.hidden = true;
    this.panel.append(...Object.values(this.views).map((view) => view.root));
    this.root = h(
      "section",
      { class: "panel", id: "result", tabindex: "-1", "aria-label": "Result" },
      this.progress,
      h("div", { class: "panel-head" }, this.tabs, this.options, shareMenu(() => this.state, () => this.widthPx())),
      this.warning,
      this.told,
      this.notice,
      this.panel,
      h("div", { class: "panel-foot" }, this.status, this.cancelButton),
      this.cost.root,
    );
  }

  widthPx(): number {
    return this.graph.widthPx();
  }

  setState(state: State): void {
    this.state = state;
    this.showTabs(state);
    replace(
      this.options,
      state.view === "graph" ? checkbox("From zero", state.fromZero, (fromZero) => this.events.onChange({ fromZero })) : null,
      state.view === "graph" ? checkbox("Log scale", state.logScale, (logScale) => this.events.onChange({ logScale })) : null,
    );
    for (const { id } of kTabs) this.views[id].root.hidden = id !== state.view || !this.frame;
  }

  // Stands above the answer until it is called with "".
  setWarning(text: string): void {
    this.warning.textContent = text;
    this.warning.hidden = text === "";
  }

  // The state has changed in how to look, not in what to ask.
  redraw(state: State): void {
    if (!this.frame) return;
    this.frame = { ...this.frame, state };
    this.views[state.view].show(this.frame);
  }

  showFrame(frame: Frame): void {
    this.stopLoading();
    this.frame = frame;
    this.notice.hidden = true;
    this.tell(frame.notices);
    this.root.classList.remove("stale");
    const points = frame.series.reduce((n, series) => n + series.times.length, 0);
    if (points === 0) {
      this.showNothing(frame);
      return;
    }
    this.setState(frame.state);
    this.views[frame.state.view].show(frame);
    this.cost.show(frame);
    this.status.textContent = [
      count(frame.series.length, "series"),
      count(points, "point"),
      ...frame.steps.map((step) => `every ${step}`),
      elapsed(frame.ms),
      bytes(frame.answer.length),
    ].join(" · ");
  }

  showLoading(quiet: boolean): void {
    window.clearTimeout(this.slowTimer);
    this.slowTimer = window.setTimeout(
      () => {
        this.root.setAttribute("aria-busy", "true");
        this.progress.classList.add("progress-on");
        this.cancelButton.hidden = false;
        this.status.textContent = "Loading…";
      },
      quiet ? kSlowMs * 4 : kSlowMs,
    );
  }

  stopLoading(): void {
    this.graph.rest();
    window.clearTimeout(this.slowTimer);
    this.root.removeAttribute("aria-busy");
    this.progress.classList.remove("progress-on");
    this.cancelButton.hidden = true;
    if (this.status.textContent === "Loading…") this.status.textContent = "Cancelled";
  }

  showError(error: unknown): void {
    this.stopLoading();
    this.cost.clear();
    this.tell([]);
    const known = error instanceof ApiError ? error : null;
    const message = error instanceof Error ? error.message : String(error);
    const advice = known ? adviceFor(known) : "";
    const retry = h(
      "button",
      { type: "button", class: "button button-small", on: { click: () => this.events.onRetry() } },
      icon("refresh"),
      "Try again",
    );
    const details = known?.details
      ? h("details", {}, h("summary", { text: "Details" }), h("pre", { class: "mono", text: known.details }))
      : null;
    this.notice.className = "notice notice-error";
    this.notice.setAttribute("role", "alert");
    replace(
      this.notice,
      icon("warn"),
      h("div", {}, h("p", { class: "notice-title", text: message }), advice ? h("p", { text: advice }) : null, details),
      retry,
    );
    this.notice.hidden = false;
    this.root.classList.toggle("stale", this.frame !== null);
    this.status.textContent = known?.status ? `HTTP ${known.status}` : "";
  }

  showEmpty(title: string, text: string): void {
    this.stopLoading();
    this.cost.clear();
    this.tell([]);
    this.frame = null;
    this.status.textContent = "";
    this.message(title, text);
  }

  private showNothing(frame: Frame): void {
    const choices = ["6h", "24h", "7d", "30d"].map((span) =>
      h("button", {
        type: "button",
        class: "chip",
        text: `Last ${span}`,
        on: { click: () => this.events.onChange({ start: `${span}-ago`, end: "" }) },
      }),
    );
    this.frame = frame.state.view === "json" ? frame : null;
    this.cost.show(frame);
    this.setState(frame.state);
    if (this.frame) this.views.json.show(frame);
    this.message("No points in this time range", whyNothing(frame.state), h("div", { class: "chips" }, ...choices));
    this.status.textContent = `0 points · ${elapsed(frame.ms)}`;
  }

  private tell(notices: Notice[]): void {
    this.told.hidden = notices.length === 0;
    replace(this.told, ...notices.map(({ kind, text }) => h("li", { class: `told-${kind}`, text })));
  }

  private message(title: string, text: string, more: HTMLElement | null = null): void {
    this.root.classList.remove("stale");
    if (this.state) this.setState(this.state);
    this.notice.className = "notice notice-empty";
    this.notice.removeAttribute("role");
    replace(this.notice, h("div", {}, h("p", { class: "notice-title", text: title }), h("p", { text }), more));
    this.notice.hidden = false;
  }

  private showTabs(state: State): void {
    const focused = this.tabs.contains(document.activeElement);
    const buttons = kTabs.map(({ id, text }) =>
      h("button", {
        type: "button",
        role: "tab",
        id: `tab-${id}`,
        class: "tab",
        text,
        "aria-selected": String(state.view === id),
        "aria-controls": "view-panel",
        tabindex: state.view === id ? "0" : "-1",
        on: {
          click: () => this.events.onChange({ view: id }),
          keydown: (event: KeyboardEvent) => this.onTabKey(event, id),
        },
      }),
    );
    replace(this.tabs, ...buttons);
    this.panel.setAttribute("aria-labelledby", `tab-${state.view}`);
    if (focused) buttons.find((button) => button.tabIndex === 0)?.focus();
  }

  private onTabKey(event: KeyboardEvent, id: ViewId): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = kTabs.findIndex((tab) => tab.id === id);
    this.events.onChange({ view: kTabs[(at + step + kTabs.length) % kTabs.length].id });
  }
}

function whyNothing(state: State): string {
  if (state.language === "promql") {
    return "No series matches, or a range in brackets has too few points: a rate needs two. Use a longer range, or check the names and labels.";
  }
  return state.queries.some((query) => query.rate && !query.hidden)
    ? "A rate needs two points. For a new metric, wait for more points. Otherwise, use a longer time range or fewer filters."
    : "The metric exists, but no series matches the filters in this time range. Use a longer time range or fewer filters.";
}
