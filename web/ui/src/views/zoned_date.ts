// Times as uPlot wants them, to place ticks at round hours and days of a zone.
import uPlot from "../../vendor/uplot/uPlot.esm.js";
import type { Zone } from "../base/zone";

export function zonedDate(time: number, zone: Zone): Date {
  if (zone === "local") return new Date(time);
  return uPlot.tzDate(new Date(time), zone === "utc" ? "Etc/UTC" : zone);
}
