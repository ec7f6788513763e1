// First steps: how to send points to this server by each protocol, and a light for each that turns green when
// points arrive.
import type { Page } from "../app/page";
import { copyText } from "../base/copy";
import { h, replace } from "../base/dom";
import { count } from "../base/format";
import { icon } from "../base/icons";
import { tabList, type TabList } from "../base/tab_list";
import { openingState } from "../question/opening";
import { printUrl } from "../question/url";
import { isAbort } from "../server/api";
import { firstForeignMetric } from "../server/first_metric";
import { numbers, settings } from "../server/status";
import { Arrivals } from "./arrivals";
import { recipes, type Recipe } from "./recipes";
import { serverOf } from "./server";

const kPollMs = 2000;

export class StartPage implements Page {
  readonly root: HTMLElement;
  readonly tools = null;
  private readonly state = h("span", { role: "status" });
  private readonly detail = h("span", { class: "muted" });
  private readonly metricName = h("b", { class: "light-metric" });
  private readonly next = h("a", { class: "button button-primary" });
  private readonly light = h("div", { class: "light" }, h("span", { class: "dot" }), this.state, this.detail, this.metricName, this.next);
  private readonly panel = h("div", { class: "recipe", role: "tabpanel", id: "recipe" });
  private readonly marks = new Map<string, HTMLElement>(); // the lights on the tabs
  private readonly tabs: TabList;
  private readonly arrivals = new Arrivals();
  private all = recipes(serverOf(location));
  private chosen = this.all[0];
  private trouble = "";
  private empty = false; // the server had only its own metrics when the page was opened
  private first: { id: string; metric: string } | null = null; // what came first after that, and by which recipe
  private stopper = new AbortController();
  private timer = 0;

  constructor() {
    for (const { id } of this.all) this.marks.set(id, h("span", { class: "tab-light" }, h("span", { class: "dot" })));
    this.tabs = tabList({
      label: "Protocol",
      panel: this.panel,
      tabs: this.all.map(({ id, name }) => ({ id, text: name, mark: this.marks.get(id) })),
      onChoose: (id) => this.choose(id),
    });
    this.root = h(
      "div",
      { class: "page start" },
      h(
        "section",
        { class: "panel start-panel", "aria-label": "First steps" },
        h("h2", { text: "Send your first point" }),
        h("p", { class: "lead", text: "Choose what your agent speaks. The texts to copy have the address of this server." }),
        this.tabs.root,
        this.panel,
      ),
      h(
        "section",
        { class: "panel start-panel", "aria-label": "Next steps" },
        h("h2", { text: "Next steps" }),
        h(
          "ul",
          { class: "then" },
          h("li", {}, h("a", { href: "#/explore", text: "Explore" }), " draws any metric, including the server's own."),
          h("li", {}, h("a", { href: "#/metrics", text: "Metrics" }), " lists the stored metrics with their tags and numbers of series."),
          h("li", {}, h("a", { href: "#/status", text: "Status" }), " shows the incoming points, and the refused points with the reason."),
          h("li", {}, "Grafana: an OpenTSDB data source with the URL ", h("code", { text: `${serverOf(location).base}grafana` })),
        ),
      ),
    );
    this.showRecipe();
  }

  enter(): void {
    document.title = "First steps – Halite";
    this.leave(); // it may be shown already
    this.stopper = new AbortController();
    const id = /^#\/start\/([a-z]+)$/.exec(location.hash)?.[1];
    if (id) this.tabs.choose(id);
    this.showLight();
    void this.loadSettings();
    void this.poll();
  }

  leave(): void {
    this.stopper.abort();
    window.clearTimeout(this.timer);
  }

  private choose(id: string): void {
    this.chosen = this.all.find((recipe) => recipe.id === id) ?? this.all[0];
    history.replaceState(null, "", `#/start/${this.chosen.id}`);
    this.showRecipe();
  }

  private async loadSettings(): Promise<void> {
    const { signal } = this.stopper;
    try {
      const all = recipes(serverOf(location, await settings(signal)));
      if (signal.aborted) return;
      this.all = all;
      this.chosen = all.find(({ id }) => id === this.chosen.id) ?? all[0];
      this.showRecipe();
    } catch {
      // The next poll reports errors of the server.
    }
  }

  private async poll(): Promise<void> {
    const { signal } = this.stopper;
    try {
      const first = !this.arrivals.begun;
      this.arrivals.take(await numbers(signal));
      this.trouble = "";
      if (first) this.empty = (await metricOrUnknown(signal)) === null;
      else if (this.empty) await this.findFirst(signal);
    } catch (error) {
      if (isAbort(error)) return;
      this.trouble = error instanceof Error ? error.message : String(error);
    }
    if (signal.aborted) return;
    this.showLight();
    this.timer = window.setTimeout(() => this.pollWhenSeen(), kPollMs);
  }

  private pollWhenSeen(): void {
    if (document.hidden) this.timer = window.setTimeout(() => this.pollWhenSeen(), kPollMs);
    else void this.poll();
  }

  private async findFirst(signal: AbortSignal): Promise<void> {
    const arrived = this.all.filter((recipe) => this.points(recipe) > 0);
    if (arrived.length === 0) return;
    const metric = await metricOrUnknown(signal);
    if (metric === null) return; // its name is not stored yet
    this.empty = false;
    if (metric !== undefined && arrived.length === 1) this.first = { id: arrived[0].id, metric };
  }

  private points({ protocols }: Recipe): number {
    return this.arrivals.points(protocols);
  }

  private showLight(): void {
    for (const recipe of this.all) {
      const mark = this.marks.get(recipe.id);
      if (!mark || this.points(recipe) === 0 || mark.classList.contains("light-on")) continue;
      mark.classList.add("light-on");
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", "points arrive");
    }
    const { id, name } = this.chosen;
    const points = this.points(this.chosen);
    const refused = this.arrivals.refusedPoints(this.chosen.protocols);
    const on = points > 0 && !this.trouble;
    this.light.classList.toggle("light-on", on);
    this.light.classList.toggle("light-bad", !on && (this.trouble !== "" || refused > 0));
    let state = `Waiting for points from ${name}…`;
    if (this.trouble) state = this.trouble;
    else if (!this.arrivals.begun) state = "Asking the server…";
    else if (on) state = `Points from ${name} arrive.`;
    else if (refused > 0) state = `Points from ${name} are refused.`;
    if (this.state.textContent !== state) this.state.textContent = state; // screen readers announce each change
    const counts = [points > 0 ? count(points, "point") : "", refused > 0 ? `${refused} refused` : ""].filter(Boolean);
    this.detail.textContent = counts.length > 0 ? `${counts.join(", ")} since you opened this page` : "";
    const metric = on && this.first?.id === id ? this.first.metric : "";
    this.metricName.textContent = metric;
    this.next.hidden = counts.length === 0;
    if (metric) this.setNext("Show it", printUrl(openingState(metric)));
    else if (points > 0) this.setNext("Show the metrics", "#/metrics");
    else this.setNext("Show why", "#/status");
  }

  private setNext(text: string, href: string): void {
    if (this.next.textContent !== text) this.next.textContent = text;
    if (this.next.getAttribute("href") !== href) this.next.setAttribute("href", href);
  }

  private showRecipe(): void {
    replace(
      this.panel,
      this.light,
      h("p", { text: this.chosen.text }),
      ...this.chosen.steps.map(({ title, code }) => command(title, code)),
    );
    this.showLight();
  }
}

// A server that only takes points names no metrics: undefined.
async function metricOrUnknown(signal: AbortSignal): Promise<string | null | undefined> {
  try {
    return await firstForeignMetric(signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    return undefined;
  }
}

function command(title: string, text: string): HTMLElement {
  const copy = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": `Copy: ${title}`, title: "Copy" },
    icon("copy"),
  );
  copy.addEventListener("click", () => void copyText(text, "Text"));
  return h("div", { class: "command" }, h("div", { class: "caption", text: title }), h("pre", { class: "mono", tabindex: "0", text }), copy);
}
