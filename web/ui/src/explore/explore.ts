// The page that asks and draws. It owns the state: the form, the time picker and the graph report what the
// user wants, the URL remembers it, and every change asks the server anew.
import type { Page } from "../app/page";
import { h } from "../base/dom";
import { translate } from "../promql/translate";
import { askedOf, newExpression, newState, type Language, type State } from "../question/state";
import { openingMetric, openingState } from "../question/opening";
import { parseUrl, printUrl } from "../question/url";
import { agoDuration, parseDuration, printDuration, resolveRange } from "../question/time_range";
import { aggregators, forgetNames, metricsWithPrefix } from "../server/names";
import { firstForeignMetric } from "../server/first_metric";
import { ExpressionForm } from "../form/expression_form";
import { LanguageSwitch } from "../form/language_switch";
import { QueryForm } from "../form/query_form";
import { Result } from "./result";
import { TimeBar } from "./time_bar";
import { ApiError } from "../server/api";
import { Asker } from "../server/asker";

export interface ExploreEvents {
  onAddress(hash: string): void; // what is shown, as a link
  onNothing(): void; // the page was opened on nothing, and nothing but the server's own metrics is there
}

const kRetryMs = 3000;
const kZoomBack = "zoomedFrom"; // in history.state: the range to which a double click returns

export class Explore implements Page {
  readonly root: HTMLElement;
  readonly tools: HTMLElement;
  private state: State = parseUrl("").state;
  private readonly bar: TimeBar;
  private readonly language: LanguageSwitch;
  private readonly form: QueryForm;
  private readonly expressions: ExpressionForm;
  private readonly result: Result;
  private readonly asker = new Asker();
  private timer = 0;
  private shown = false;

  constructor(private readonly events: ExploreEvents) {
    this.bar = new TimeBar({
      onChange: (change) => this.change(change),
      onRefresh: () => this.refresh(),
      onPan: (part) => this.pan(part),
      onZoomOut: () => this.zoomOut(),
    });
    this.tools = this.bar.root;
    this.language = new LanguageSwitch((language) => this.changeLanguage(language));
    this.form = new QueryForm((queries) => this.change({ queries }));
    this.expressions = new ExpressionForm((change) => this.change(change));
    this.result = new Result({
      onZoom: (start, end) => this.zoom(start, end),
      onReset: () => this.resetZoom(),
      onChange: (change) => this.change(change),
      onCancel: () => this.cancel(),
      onRetry: () => this.refresh(),
    });
    this.root = h(
      "div",
      { class: "main" },
      h("div", { class: "side" }, this.language.root, this.form.root, this.expressions.root),
      h("div", { class: "content" }, this.result.root),
    );
    document.addEventListener("visibilitychange", () => this.schedule());
    void aggregators().then((names) => this.form.setAggregators(names));
  }

  enter(): void {
    this.shown = true;
    if (namesNothing()) void this.open();
    else this.fromUrl();
  }

  leave(): void {
    this.shown = false;
    this.asker.cancel();
    window.clearTimeout(this.timer);
  }

  // An address without a question: shows the first metric there is, or waits for it.
  private async open(): Promise<void> {
    const first = location.hash.length <= 1; // otherwise the URL names a page
    this.show();
    try {
      const own = await metricsWithPrefix("halite.", 500);
      const others = first ? await firstForeignMetric() : null;
      if (!this.shown || !namesNothing()) return; // the user was faster
      if (first && others === null) {
        this.events.onNothing();
        return;
      }
      const metric = openingMetric(own, own.length ? [] : await metricsWithPrefix("", 1));
      if (!this.shown || !namesNothing()) return;
      if (metric) {
        this.state = openingState(metric);
        history.replaceState(null, "", printUrl(this.state));
        this.show();
        this.ask();
        return;
      }
      this.result.showEmpty("No data yet", "The server's own metrics appear here within 30 seconds of its start.");
    } catch (error) {
      this.result.showError(error);
    }
    this.timer = window.setTimeout(() => this.shown && namesNothing() && !this.asker.busy && this.open(), kRetryMs);
  }

  private fromUrl(): void {
    const { state, errors } = parseUrl(location.hash);
    // The address has the queries of one language; those of the other stay what they were.
    if (state.language === "promql") state.queries = this.state.queries;
    else state.expressions = this.state.expressions;
    this.state = state;
    if (this.state.queries.length === 0) this.state.queries = newState().queries;
    this.show();
    this.ask();
    this.result.setWarning(errors.length ? `Part of the link could not be read. ${errors.join("; ")}` : "");
  }

  private change(change: Partial<State>): void {
    // A range chosen anew is no longer a zoom into another one.
    this.setState({ ...this.state, ...change }, change.start === undefined ? history.state : null);
  }

  // The first time, the expressions say what the sub-queries do.
  private changeLanguage(language: Language): void {
    const { queries, expressions } = this.state;
    const written = expressions.some(({ text }) => text.trim());
    const translated = queries
      .map((query) => ({ ...newExpression(translate(query)), rightAxis: query.rightAxis, hidden: query.hidden }))
      .filter(({ text }) => text);
    this.change(language === "promql" && !written ? { language, expressions: translated } : { language });
  }

  private setState(state: State, historyState: unknown = null): void {
    const before = this.state;
    this.state = state;
    this.result.setWarning("");
    const url = printUrl(state);
    if (url !== location.hash) history.pushState(historyState, "", url);
    this.show();
    // Another way to look at the same answer needs no new one.
    const same = (s: State): string =>
      printUrl({ ...s, view: "graph", logScale: false, fromZero: false, refreshSeconds: 0 });
    const axes = (s: State): string => JSON.stringify(askedOf(s).map(({ rightAxis }) => rightAxis));
    if (same(before) === same(state) && axes(before) === axes(state)) {
      this.result.redraw(state);
      this.schedule();
    } else {
      this.ask();
    }
  }

  private show(): void {
    const { language, queries, expressions, step } = this.state;
    this.bar.set(this.state);
    this.language.set(language);
    this.form.root.hidden = language !== "opentsdb";
    this.expressions.root.hidden = language !== "promql";
    this.form.set(queries.length ? queries : newState().queries);
    this.expressions.set(expressions.length ? expressions : [newExpression()], step);
    this.result.setState(this.state);
    const names = askedOf(this.state).map(({ name }) => name).filter(Boolean);
    document.title = names.length ? `${names.join(", ")} – Halite` : "Halite";
    if (names.length) this.events.onAddress(printUrl(this.state));
  }

  private refresh(): void {
    forgetNames();
    this.ask();
  }

  private ask(quiet = false): void {
    window.clearTimeout(this.timer);
    const state = this.state;
    const asked = askedOf(state).some(({ name, hidden }) => name && !hidden);
    if (!asked) {
      this.asker.cancel();
      const hint =
        state.language === "promql"
          ? "Write an expression into query A. Enter runs it."
          : "Type the name of a metric into query A, or pick one from its list.";
      this.result.showEmpty("No query yet", hint);
      return;
    }
    const range = resolveRange(state.start, state.end, Date.now(), state.zone);
    if ("error" in range) {
      this.asker.cancel();
      this.result.showError(new Error(range.error));
      return;
    }
    this.result.showLoading(quiet);
    void this.asker.ask(state, range, this.result.widthPx()).then((outcome) => {
      if (outcome === null) return; // a newer question has taken its place
      if ("frame" in outcome) this.result.showFrame({ ...outcome.frame, state: this.state });
      else this.result.showError(outcome.error);
      this.markError("error" in outcome ? outcome.error : null);
      this.schedule();
    });
  }

  private markError(error: unknown): void {
    const known = error instanceof ApiError ? error : null;
    this.expressions.showError(known?.query ?? null, known?.message ?? "");
  }

  private cancel(): void {
    this.asker.cancel();
    this.result.stopLoading();
    this.schedule();
  }

  private schedule(): void {
    window.clearTimeout(this.timer);
    const past = this.state.end !== "" && this.state.end !== "now";
    if (!this.shown || this.state.refreshSeconds <= 0 || past || document.hidden || this.asker.busy) return;
    this.timer = window.setTimeout(() => this.ask(true), this.state.refreshSeconds * 1000);
  }

  private zoom(start: number, end: number): void {
    const from = history.state?.[kZoomBack] ?? { start: this.state.start, end: this.state.end };
    this.setState({ ...this.state, start: String(start), end: String(end) }, { [kZoomBack]: from });
  }

  private resetZoom(): void {
    const from = history.state?.[kZoomBack];
    if (from) this.setState({ ...this.state, start: from.start, end: from.end }, null);
  }

  private zoomOut(): void {
    const ago = this.state.end === "" ? agoDuration(this.state.start) : null;
    if (ago) {
      const span = (parseDuration(ago) as number) * 2;
      this.setState({ ...this.state, start: `${printDuration(span)}-ago` }, null);
      return;
    }
    this.moveRange((start, end) => {
      const half = (end - start) / 2;
      return [start - half, end + half];
    });
  }

  private pan(part: number): void {
    this.moveRange((start, end) => [start + (end - start) * part, end + (end - start) * part]);
  }

  private moveRange(move: (start: number, end: number) => [number, number]): void {
    const range = resolveRange(this.state.start, this.state.end, Date.now(), this.state.zone);
    if ("error" in range) return;
    const [start, end] = move(range.start, range.end).map((time) => String(Math.max(0, Math.round(time))));
    this.setState({ ...this.state, start, end }, history.state);
  }
}

function namesNothing(): boolean {
  return location.hash.length <= 1 || location.hash.startsWith("#/");
}
