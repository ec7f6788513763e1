// The memory limit: what its shares have now, and how much of that they use.
import { h, replace } from "../base/dom";
import { bytes } from "../base/format";
import type { Numbers } from "../server/status";
import { card, facts, table, type Part } from "./parts";

export class MemoryCard implements Part {
  readonly root: HTMLElement;
  private readonly whole = h("div");
  private readonly list = h("div");

  constructor() {
    this.root = card("Memory", "card-wide", this.whole, this.list);
  }

  show(numbers: Numbers): void {
    replace(
      this.whole,
      facts([
        { name: "Limit", value: bytes(numbers.sum("memory.limit_bytes")), title: "memory.limit" },
        { name: "Resident", value: bytes(numbers.sum("process.resident_bytes")), title: "The whole process" },
      ]),
    );
    const used = numbers.by("memory.used_bytes", "setting");
    const shares = [...numbers.by("memory.share_bytes", "setting")].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = shares.map(([setting, size]) => [h("code", { text: setting }), bytes(size), bytes(used.get(setting) ?? 0)]);
    replace(this.list, table("Shares of the memory limit", [{ text: "Share" }, { text: "Size now", number: true }, { text: "In use", number: true }], rows));
  }
}
