// The bar on top of every page: the name, the way to the other pages, what the page adds, the theme.
import { h, replace } from "../base/dom";
import { logo } from "../base/icons";
import { themeButton } from "../base/theme";
import { getJson } from "../server/api";
import type { PageId } from "./page";

const kPages: { id: PageId; text: string }[] = [
  { id: "explore", text: "Explore" },
  { id: "metrics", text: "Metrics" },
  { id: "status", text: "Status" },
  { id: "start", text: "First steps" },
];

export class TopBar {
  readonly root: HTMLElement;
  private readonly links = new Map<PageId, HTMLAnchorElement>();
  private readonly tools = h("div", { class: "tools" });
  private readonly version = h("span", { class: "version muted" });

  constructor() {
    const items = kPages.map(({ id, text }) => {
      const link = h("a", { class: "nav-link", id: `nav-${id}`, href: `#/${id}`, text });
      this.links.set(id, link);
      return h("li", {}, link);
    });
    this.root = h(
      "header",
      { class: "header" },
      h("div", { class: "brand" }, logo(), h("h1", { text: "Halite" }), this.version),
      h("nav", { "aria-label": "Pages" }, h("ul", { class: "nav" }, ...items)),
      this.tools,
      themeButton(),
    );
    void this.loadVersion();
  }

  show(page: PageId, tools: HTMLElement | null): void {
    for (const [id, link] of this.links) {
      if (id === page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    replace(this.tools, tools);
  }

  // Where the explore page was left.
  setExplore(hash: string): void {
    this.links.get("explore")?.setAttribute("href", hash);
  }

  private async loadVersion(): Promise<void> {
    try {
      const { version } = await getJson<{ version?: string }>("api/version");
      this.version.textContent = version ?? "";
    } catch {
      this.version.textContent = ""; // decoration: the page's own questions tell what is wrong
    }
  }
}
