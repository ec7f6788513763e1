// How to send the first point, with this server's name filled in. Shown while there is no data but the
// server's own; watches for the first metric and says so.
import { copyText } from "../base/copy";
import { h, replace } from "../base/dom";
import { icon } from "../base/icons";
import { metricsWithPrefix } from "../server/names";

const kWatchMs = 3000;
const kOwnPrefix = "halite.";

// The first metric that is not the server's own, or null. Two questions, since its own ones may fill a page.
export async function firstForeignMetric(signal?: AbortSignal): Promise<string | null> {
  const before = await metricsWithPrefix("", 1, signal);
  if (before.length > 0 && !before[0].startsWith(kOwnPrefix)) return before[0];
  const some = await metricsWithPrefix("", 1000, signal);
  return some.find((name) => !name.startsWith(kOwnPrefix)) ?? null;
}

export class FirstSteps {
  readonly root = h("section", { class: "first-steps", "aria-label": "First steps" });
  private timer = 0;

  constructor(private readonly onShow: (metric: string) => void) {
    this.root.hidden = true;
  }

  // Shows itself only where there is nothing yet.
  async start(): Promise<void> {
    const metric = await firstForeignMetric().catch(() => "");
    if (metric !== null) return;
    this.root.hidden = false;
    this.waiting();
    this.watch();
  }

  private watch(): void {
    this.timer = window.setTimeout(async () => {
      if (document.hidden) {
        this.watch();
        return;
      }
      const metric = await firstForeignMetric().catch(() => null);
      if (metric === null) this.watch();
      else this.arrived(metric);
    }, kWatchMs);
  }

  private waiting(): void {
    const base = new URL(".", location.href).href;
    const port = location.port || (location.protocol === "https:" ? "443" : "80");
    const point = `{"metric":"my.first.metric","timestamp":'$(date +%s)',"value":42,"tags":{"host":"'$(hostname)'"}}`;
    const curl = `curl -i -X POST ${base}api/put -H 'Content-Type: application/json' -d '${point}'`;
    const telnet = `echo "put my.first.metric $(date +%s) 42 host=$(hostname)" | nc -w 1 ${location.hostname} ${port}`;
    replace(
      this.root,
      h(
        "div",
        { class: "first-head" },
        h("h2", { text: "Send your first point" }),
        h("span", { class: "light", role: "status" }, h("span", { class: "dot" }), "waiting for a metric…"),
        this.closeButton(),
      ),
      h("p", { text: "So far only Halite's own metrics are stored. Anything that writes to OpenTSDB can write here; by hand:" }),
      command("HTTP, with curl", curl),
      location.protocol === "https:" ? null : command("Telnet line, with netcat", telnet),
    );
  }

  private arrived(metric: string): void {
    const show = h("button", { type: "button", class: "button button-primary", text: "Show it" });
    show.addEventListener("click", () => {
      this.root.hidden = true;
      this.onShow(metric);
    });
    replace(
      this.root,
      h(
        "div",
        { class: "first-head" },
        h("h2", { text: "The first metric is here" }),
        h("span", { class: "light light-on", role: "status" }, h("span", { class: "dot" }), metric),
        show,
        this.closeButton(),
      ),
    );
  }

  private closeButton(): HTMLElement {
    const close = h(
      "button",
      { type: "button", class: "icon-button", "aria-label": "Close first steps", title: "Close" },
      icon("close"),
    );
    close.addEventListener("click", () => {
      window.clearTimeout(this.timer);
      this.root.hidden = true;
    });
    return close;
  }
}

function command(title: string, text: string): HTMLElement {
  const copy = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": `Copy: ${title}`, title: "Copy" },
    icon("copy"),
  );
  copy.addEventListener("click", () => void copyText(text, "Command"));
  return h("div", { class: "command" }, h("div", { class: "caption", text: title }), h("pre", { class: "mono", tabindex: "0", text }), copy);
}
