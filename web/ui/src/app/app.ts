// The pages, and which of them the address asks for.
import { h, replace } from "../base/dom";
import { Explore } from "../explore/explore";
import { MetricsPage } from "../metrics/metrics_page";
import { StartPage } from "../start/start_page";
import { StatusPage } from "../status/status_page";
import { pageOf, type Page, type PageId } from "./page";
import { TopBar } from "./top_bar";

export class App {
  private readonly bar = new TopBar();
  private readonly main = h("main", { class: "app-main", id: "main", tabindex: "-1" });
  private readonly pages: Record<PageId, Page>;
  private current: PageId | null = null;

  constructor(host: HTMLElement) {
    this.pages = {
      explore: new Explore({
        onAddress: (hash) => this.bar.setExplore(hash),
        onNothing: () => this.replaceAddress("#/start"),
      }),
      metrics: new MetricsPage(),
      status: new StatusPage(),
      start: new StartPage(),
    };
    host.append(
      h("a", { href: "#main", class: "skip", text: "Skip to the content", on: { click: (e: Event) => this.skip(e) } }),
      this.bar.root,
      this.main,
    );
  }

  start(): void {
    window.addEventListener("popstate", () => this.route());
    this.route();
  }

  private replaceAddress(hash: string): void {
    history.replaceState(null, "", hash);
    this.route();
  }

  private route(): void {
    const id = pageOf(location.hash);
    const page = this.pages[id];
    if (id !== this.current) {
      if (this.current) this.pages[this.current].leave();
      this.current = id;
      replace(this.main, page.root);
      this.bar.show(id, page.tools);
    }
    page.enter();
  }

  // The fragment is the address: a plain jump would overwrite it.
  private skip(event: Event): void {
    event.preventDefault();
    this.main.focus();
  }
}
