// Where points lie on a cluster of HBase: what each server has, and regions that are asked much more than others.
import { h, replace } from "../base/dom";
import { bytes, compact, count } from "../base/format";
import type { Region, Regions, ServerLoad } from "../server/status";
import { card, table, type Part } from "./parts";

const kHotMax = 20;
const kMiB = 1024 * 1024;

export class RegionsCard implements Part {
  readonly root: HTMLElement;
  private readonly about = h("p", { class: "muted" });
  private readonly servers = h("div");
  private readonly hot = h("div", { class: "hot-regions" });

  constructor() {
    this.root = card("Regions", "card-wide", this.about, this.servers, this.hot);
    this.root.hidden = true; // until there are any
  }

  show(regions: Regions): void {
    this.root.hidden = false;
    const homeless = regions.regions.filter(({ server }) => server === "").length;
    const away = homeless === 0 ? "" : `; ${count(homeless, "region")} on no server now`;
    this.about.textContent = `${regions.table}: ${count(regions.regions.length, "region")}${away}. Requests are counted from the time a region was opened.`;
    this.about.className = homeless === 0 ? "muted" : "bad";
    replace(this.servers, serverTable(regions.servers));
    const hot = regions.regions.filter((region) => region.hot).sort((a, b) => asked(b) - asked(a));
    replace(
      this.hot,
      h("h3", { text: "Hot regions", title: "Regions with at least four times the average requests of all regions that get any" }),
      hot.length ? regionTable(hot.slice(0, kHotMax)) : h("p", { class: "muted", text: "None: requests are spread evenly." }),
    );
  }

  // What was shown before stays, with the reason why it grows old.
  fail(text: string): void {
    this.root.hidden = false;
    this.about.textContent = text;
    this.about.className = "bad";
  }
}

function asked({ reads, writes }: Region): number {
  return reads + writes;
}

function place(server: string): string {
  return server || "not online";
}

function serverTable(servers: ServerLoad[]): HTMLElement {
  const numbers = ["Regions", "Hot", "Reads", "Writes", "Files", "Memory"].map((text) => ({ text, number: true }));
  const rows = servers.map(({ server, regions, hot, reads, writes, filesMib, memoryMib }) => [
    place(server),
    compact(regions),
    hot > 0 ? compact(hot) : "–",
    compact(reads),
    compact(writes),
    bytes(filesMib * kMiB),
    bytes(memoryMib * kMiB),
  ]);
  return table("Region servers", [{ text: "Server" }, ...numbers], rows);
}

function regionTable(regions: Region[]): HTMLElement {
  const numbers = ["Reads", "Writes", "Files", "Memory"].map((text) => ({ text, number: true }));
  const rows = regions.map(({ from, server, reads, writes, filesMib, memoryMib }) => [
    from,
    place(server),
    compact(reads),
    compact(writes),
    bytes(filesMib * kMiB),
    bytes(memoryMib * kMiB),
  ]);
  return table("Hot regions", [{ text: "From" }, { text: "Server" }, ...numbers], rows);
}
