// First steps: how to send points to this server, and a light that turns green at the first one.
import type { Page } from "../app/page";
import { copyText } from "../base/copy";
import { h, replace } from "../base/dom";
import { icon } from "../base/icons";
import { tabList } from "../base/tab_list";
import { openingState } from "../question/opening";
import { printUrl } from "../question/url";
import { firstForeignMetric } from "../server/first_metric";
import { recipes, serverOf, type Recipe } from "./recipes";

const kWatchMs = 2000;

export class StartPage implements Page {
  readonly root: HTMLElement;
  readonly tools = null;
  private readonly light = h("div", { class: "light", role: "status" });
  private readonly recipe = h("div", { class: "recipe", role: "tabpanel", id: "recipe" });
  private readonly all = recipes(serverOf(location));
  private timer = 0;
  private shown = false;

  constructor() {
    const tabs = tabList({
      label: "Agent",
      panel: this.recipe,
      tabs: this.all.map(({ id, name }) => ({ id, text: name })),
      onChoose: (id) => this.show(this.all.find((one) => one.id === id) ?? this.all[0]),
    });
    this.root = h(
      "div",
      { class: "page start" },
      h(
        "section",
        { class: "panel start-panel", "aria-label": "First steps" },
        h("h2", { text: "Send your first point" }),
        h("p", {
          class: "lead",
          text: "Any agent that writes to OpenTSDB can write to this server. It needs only the server's name and port.",
        }),
        this.light,
        tabs,
        this.recipe,
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
    this.show(this.all[0]);
  }

  enter(): void {
    document.title = "First steps – Halite";
    window.clearTimeout(this.timer); // it may be shown already
    this.shown = true;
    this.showLight(null);
    void this.look();
  }

  leave(): void {
    this.shown = false;
    window.clearTimeout(this.timer);
  }

  private async look(): Promise<void> {
    const metric = document.hidden ? null : await firstForeignMetric().catch(() => null);
    if (!this.shown) return;
    if (metric === null) this.timer = window.setTimeout(() => void this.look(), kWatchMs);
    else this.showLight(metric);
  }

  private showLight(metric: string | null): void {
    this.light.classList.toggle("light-on", metric !== null);
    if (metric === null) {
      replace(this.light, h("span", { class: "dot" }), "Waiting for the first point…");
      return;
    }
    replace(
      this.light,
      h("span", { class: "dot" }),
      h("span", {}, "The first metric is here: ", h("b", { class: "light-metric", text: metric })),
      h("a", { class: "button button-primary", href: printUrl(openingState(metric)), text: "Show it" }),
    );
  }

  private show(recipe: Recipe): void {
    replace(
      this.recipe,
      h("p", { text: recipe.text }),
      ...recipe.steps.map(({ title, code }) => command(title, code)),
    );
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
