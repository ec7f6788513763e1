// Where points are on their way to disk: the log, the head in memory, chunks; or HBase.
import { h, replace } from "../base/dom";
import { bytes, compact, count } from "../base/format";
import type { Cycle, Numbers } from "../server/status";
import { card, facts, type Fact, type Part } from "./parts";

export class StoreCard implements Part {
  readonly root: HTMLElement;
  private readonly stages = h("div", { class: "stages" });

  constructor() {
    this.root = card("Store", "card-wide", this.stages);
  }

  show(numbers: Numbers, before: Numbers | null, cycles: Cycle[]): void {
    const stages: HTMLElement[] = [];
    if (numbers.has("log.segments")) stages.push(stage("Log", "Every point is written here first; recovery after a crash reads it", logFacts(numbers, before)));
    if (numbers.has("engine.head_points")) stages.push(stage("Head", "Recent points in memory, searchable at once", headFacts(numbers, before)));
    if (numbers.has("engine.chunk_bytes")) stages.push(stage("Chunks", "Points on disk, packed series by series", chunkFacts(numbers, cycles)));
    if (numbers.has("hbase.requests_total")) stages.push(stage("HBase", "The region servers as this server sees them", hbaseFacts(numbers, before)));
    if (numbers.has("storage.commits_total")) stages.push(stage("Names", "Names, series and metadata in RocksDB", commitFacts(numbers)));
    if (stages.length === 0) stages.push(h("p", { class: "muted", text: "All points are in memory; nothing is on disk." }));
    replace(this.stages, ...stages);
  }
}

function stage(title: string, about: string, list: Fact[]): HTMLElement {
  return h("div", { class: "stage" }, h("h3", { text: title, title: about }), facts(list));
}

const kSoFar = "Since start-up";

function perSecond(rate: number | null): string {
  return rate === null ? "–" : `${compact(Number(rate.toPrecision(3)), 3)}/s`;
}

function bytesPerSecond(rate: number | null): string {
  return rate === null ? "–" : `${bytes(Math.round(rate))}/s`;
}

function failures(name: string, n: number): Fact {
  return { name, value: n === 0 ? "none" : compact(n), bad: n > 0, title: kSoFar };
}

function logFacts(n: Numbers, before: Numbers | null): Fact[] {
  return [
    { name: "On disk", value: `${bytes(n.sum("log.disk_bytes"))} in ${count(n.sum("log.segments"), "segment")}` },
    { name: "Written", value: bytesPerSecond(n.rate(before, "log.bytes_total")) },
    { name: "Commits", value: perSecond(n.rate(before, "log.commits_total")), title: "Syncs to disk" },
    { name: "Not synced yet", value: bytes(n.sum("log.unsynced_bytes")) },
    failures("Failed commits", n.sum("log.commit_failures_total")),
    failures("Damaged records", n.sum("log.damaged_records_total")),
  ];
}

function headFacts(n: Numbers, before: Numbers | null): Fact[] {
  return [
    { name: "In memory", value: `${compact(n.sum("engine.head_points"))} points, ${bytes(n.sum("engine.head_bytes"))}` },
    { name: "Taken", value: perSecond(n.rate(before, "engine.points_total")) },
    { name: "Flushes", value: compact(n.sum("engine.flushes_total")), title: "Number of flushes to disk since start-up" },
    { name: "Flushed", value: `${compact(n.sum("engine.flushed_points_total"))} points`, title: kSoFar },
    failures("Failed flushes", n.sum("engine.failed_flushes_total")),
    { name: "Series in memory", value: `${compact(n.sum("engine.known_series"))}, ${bytes(n.sum("engine.known_series_bytes"))}` },
  ];
}

function chunkFacts(n: Numbers, cycles: Cycle[]): Fact[] {
  const slots = cycles.flatMap((cycle) => cycle.slots);
  const open = slots.filter(({ sealed }) => !sealed).length;
  const stored = n.sum("engine.flushed_points_total");
  const perPoint = stored > 0 ? n.sum("engine.chunk_bytes") / stored : 0;
  const list: Fact[] = [
    { name: "On disk", value: `${bytes(n.sum("engine.chunk_bytes"))} in ${count(n.sum("engine.chunk_files"), "file")}` },
    { name: "Slots", value: `${slots.length}, ${open} not sealed`, title: "Sealing compresses a slot after its end" },
    { name: "Sealed", value: `${compact(n.sum("engine.sealed_points_total"))} points`, title: kSoFar },
    { name: "Expired", value: count(n.sum("engine.expired_slots_total"), "slot"), title: kSoFar },
    failures("Damaged places", n.sum("engine.damaged_places")),
  ];
  if (perPoint > 0 && perPoint < 16) list.splice(1, 0, { name: "Per point", value: `${perPoint.toFixed(2)} bytes`, title: "Bytes on disk per point flushed since start-up" });
  if (n.sum("engine.expiry_stopped") > 0) list.push({ name: "Expiry", value: "paused: the clock jumped", bad: true });
  return list;
}

function hbaseFacts(n: Numbers, before: Numbers | null): Fact[] {
  return [
    { name: "Connections", value: compact(n.sum("hbase.connections_total") - n.sum("hbase.connections_broken_total")) },
    { name: "Requests", value: perSecond(n.rate(before, "hbase.requests_total")) },
    { name: "Waiting", value: compact(n.sum("hbase.waiting_requests")) },
    { name: "In progress", value: bytes(n.sum("hbase.under_way_bytes")) },
    { name: "Sent", value: bytesPerSecond(n.rate(before, "hbase.sent_bytes_total")) },
    { name: "Retries", value: compact(n.sum("hbase.retries_total")), title: kSoFar },
    failures("Timeouts", n.sum("hbase.timeouts_total")),
    failures("Broken connections", n.sum("hbase.connections_broken_total")),
  ];
}

function commitFacts(n: Numbers): Fact[] {
  return [
    { name: "Commits", value: compact(n.sum("storage.commits_total")), title: kSoFar },
    { name: "Written", value: bytes(n.sum("storage.commit_bytes_total")), title: kSoFar },
    { name: "Waiting", value: bytes(n.sum("storage.commit_queue_bytes")) },
    failures("Failed commits", n.sum("storage.commit_failures_total")),
  ];
}
