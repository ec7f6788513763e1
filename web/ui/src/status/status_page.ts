// How the server is: what comes in, where it lies, who asks, and what it runs with.
import type { Page } from "../app/page";
import { h, replace } from "../base/dom";
import { bytes, compact, dateTimeText } from "../base/format";
import { printDuration } from "../question/time_range";
import { isAbort } from "../server/api";
import { findMetricCounts, tagKeyCounts } from "../server/series_counts";
import { numbers, overview, queries, regions, settings, version, views, type Numbers, type Overview } from "../server/status";
import { IngestCard } from "./ingest_card";
import { MemoryCard } from "./memory_card";
import { pastRate } from "./past_rate";
import { QueriesCard } from "./queries_card";
import { RegionsCard } from "./regions_card";
import { SettingsCard } from "./settings_card";
import { SlotsCard } from "./slots_card";
import { StoreCard } from "./store_card";
import { TopCard } from "./top_card";
import { ViewsCard } from "./views_card";

const kPollMs = 3000;
const kFirstMs = 1000;
const kSeriesMs = 30_000;
const kRegionsMs = 30_000; // asks all servers of the cluster
const kTop = 12;

export class StatusPage implements Page {
  readonly root: HTMLElement;
  readonly tools = null;
  private readonly state = h("div", { class: "panel status-head", role: "status" });
  private readonly ingest = new IngestCard();
  private readonly store = new StoreCard();
  private readonly regions = new RegionsCard();
  private readonly slots = new SlotsCard();
  private readonly views = new ViewsCard();
  private readonly memory = new MemoryCard();
  private readonly asked = new QueriesCard(() => void this.poll());
  private readonly top = new TopCard();
  private readonly settings = new SettingsCard();
  private before: Numbers | null = null;
  private stopper = new AbortController();
  private timer = 0;
  private seriesAt = 0;
  private regionsAt = 0;
  private loaded = false;

  constructor() {
    const cards = [this.ingest, this.store, this.regions, this.slots, this.views, this.memory, this.asked, this.top, this.settings];
    this.root = h("div", { class: "page status" }, this.state, ...cards.map(({ root }) => root));
  }

  enter(): void {
    document.title = "Status – Halite";
    this.leave(); // it may be shown already
    this.stopper = new AbortController();
    this.before = null;
    this.seriesAt = 0;
    this.regionsAt = 0;
    void this.poll();
    if (!this.loaded) void this.loadOnce();
  }

  leave(): void {
    this.stopper.abort();
    window.clearTimeout(this.timer);
  }

  private async loadOnce(): Promise<void> {
    const { signal } = this.stopper;
    try {
      const [about, set] = await Promise.all([version(signal), settings(signal)]);
      this.settings.show(about, set);
      this.loaded = true;
      this.ingest.setPast(await pastRate(signal));
    } catch {
      // The next poll reports errors of the server.
    }
  }

  private async poll(): Promise<void> {
    window.clearTimeout(this.timer);
    const { signal } = this.stopper;
    const first = this.before === null; // rates come with the second
    try {
      const [about, now, running] = await Promise.all([overview(signal), numbers(signal), queries(signal)]);
      if (signal.aborted) return;
      this.showState(about, now);
      this.ingest.show(now, this.before, about.refused, about.crowded);
      this.store.show(now, this.before, about.cycles);
      this.slots.show(about.cycles, about.now);
      this.memory.show(now);
      this.asked.show(running);
      this.before = now;
      if (about.store === "hbase") void this.loadRegions(signal);
      else this.views.show(await views(signal));
      await this.loadSeries(signal);
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      const text = error instanceof Error ? error.message : String(error);
      replace(this.state, h("span", { class: "light light-bad" }, h("span", { class: "dot" }), text));
    }
    if (!signal.aborted) this.timer = window.setTimeout(() => this.pollWhenSeen(), first ? kFirstMs : kPollMs);
  }

  private pollWhenSeen(): void {
    if (document.hidden) this.timer = window.setTimeout(() => this.pollWhenSeen(), kPollMs);
    else void this.poll();
  }

  private async loadSeries(signal: AbortSignal): Promise<void> {
    if (Date.now() - this.seriesAt < kSeriesMs) return;
    const [most, grown, keys] = await Promise.all([
      findMetricCounts({ max: kTop, order: "series" }, signal),
      findMetricCounts({ max: kTop, order: "grown" }, signal),
      tagKeyCounts(kTop, signal),
    ]);
    if (signal.aborted) return;
    this.seriesAt = Date.now();
    this.top.show(most, grown, keys);
  }

  private async loadRegions(signal: AbortSignal): Promise<void> {
    if (Date.now() - this.regionsAt < kRegionsMs) return;
    this.regionsAt = Date.now();
    try {
      this.regions.show(await regions(signal));
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.regions.fail(error instanceof Error ? error.message : String(error));
    }
  }

  private showState(about: Overview, now: Numbers): void {
    const item = (name: string, value: string, title = ""): HTMLElement =>
      h("div", { class: "head-item", title: title || undefined }, h("span", { class: "muted", text: name }), h("b", { text: value }));
    const minutes = Math.max(1, Math.floor((about.now - about.started) / 60_000));
    const ready = about.ready ? "Ready" : `Not ready: ${about.reason}`;
    const modes: Record<string, string> = { rw: "reads and writes", ro: "reads only", wo: "writes only" };
    replace(
      this.state,
      h("span", { class: `light ${about.ready ? "light-on" : "light-bad"}` }, h("span", { class: "dot" }), ready),
      item("Up for", printDuration(roughly(minutes) * 60_000), `since ${dateTimeText(Math.floor(about.started / 1000) * 1000, "local")}`),
      item("Store", about.store),
      item("Mode", modes[about.mode] ?? about.mode),
      item("Connections", compact(now.sum("web.connections"))),
      item("Memory", `${bytes(now.sum("process.resident_bytes"))} of ${bytes(now.sum("memory.limit_bytes"))}`, "Resident, of memory.limit"),
      item("Queries", compact(now.sum("query.runs_total")), "Answered since start-up"),
      item("Version", about.version),
    );
  }
}

// Minutes, then whole hours, then whole days.
function roughly(minutes: number): number {
  if (minutes < 120) return minutes;
  return minutes < 2880 ? Math.floor(minutes / 60) * 60 : Math.floor(minutes / 1440) * 1440;
}
