// The version that runs, and the settings it runs with.
import { h, replace } from "../base/dom";
import { card, facts, table, type Part } from "./parts";

export class SettingsCard implements Part {
  readonly root: HTMLElement;
  private readonly built = h("div", { class: "built" });
  private readonly list = h("div");
  private readonly search: HTMLInputElement;
  private settings: [string, string][] = [];

  constructor() {
    this.search = h("input", { type: "search", class: "settings-search", "aria-label": "Search settings", placeholder: "search settings", spellcheck: "false" });
    this.search.addEventListener("input", () => this.showSettings());
    this.root = card("Version and settings", "card-wide", this.built, this.search, this.list);
  }

  show(version: Record<string, string>, settings: Record<string, string>): void {
    const built = Number(version.timestamp) > 0 ? new Date(Number(version.timestamp) * 1000).toISOString().slice(0, 16).replace("T", " ") : "";
    const state = version.repo_status === "MODIFIED" ? ", modified" : "";
    replace(
      this.built,
      facts([
        { name: "Version", value: version.version ?? "" },
        { name: "Revision", value: `${version.short_revision ?? ""}${state}` },
        { name: "Built", value: built ? `${built} UTC` : "" },
        { name: "On", value: version.host ?? "" },
      ].filter(({ value }) => value !== "")),
    );
    this.settings = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
    this.showSettings();
  }

  private showSettings(): void {
    const text = this.search.value.trim().toLowerCase();
    const fit = this.settings.filter(([name, value]) => `${name} ${value}`.toLowerCase().includes(text));
    const rows = fit.map(([name, value]) => [h("code", { text: name }), value]);
    replace(this.list, rows.length ? table("Settings", [{ text: "Setting" }, { text: "Value", long: true }], rows) : h("p", { class: "muted", text: "No setting contains this text." }));
  }
}
