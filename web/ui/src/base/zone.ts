// Time zones: the browser's own, UTC, or any that it knows by name (Europe/Berlin).

export type Zone = string; // "local", "utc" or an IANA name

export interface TimeParts {
  year: number;
  month: number; // 1..12
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

// Throws a RangeError where the browser does not know the zone.
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  return format;
}

export function localZoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

// The name that OpenTSDB takes.
export function zoneName(zone: Zone): string {
  return zone === "local" ? localZoneName() : zone === "utc" ? "UTC" : zone;
}

export function zoneText(zone: Zone): string {
  return zone === "local" ? "local" : zoneName(zone);
}

// What a name means here; "local" for one that the browser does not know.
export function zoneOf(name: string): Zone {
  if (/^(utc|gmt|etc\/utc)$/i.test(name)) return "utc";
  if (name === "") return "local";
  try {
    return formatOf(name).resolvedOptions().timeZone;
  } catch {
    return "local";
  }
}

// Empty where the browser does not list them.
export function allZoneNames(): string[] {
  const list = (Intl as { supportedValuesOf?: (what: string) => string[] }).supportedValuesOf;
  return list ? list("timeZone") : [];
}

export function timeParts(time: number, zone: Zone): TimeParts {
  const d = new Date(time);
  if (zone === "local") {
    return {
      year: d.getFullYear(),
      month: d.getMonth() + 1,
      day: d.getDate(),
      hour: d.getHours(),
      minute: d.getMinutes(),
      second: d.getSeconds(),
      ms: d.getMilliseconds(),
    };
  }
  if (zone === "utc") {
    return {
      year: d.getUTCFullYear(),
      month: d.getUTCMonth() + 1,
      day: d.getUTCDate(),
      hour: d.getUTCHours(),
      minute: d.getUTCMinutes(),
      second: d.getUTCSeconds(),
      ms: d.getUTCMilliseconds(),
    };
  }
  const found: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(d)) found[type] = Number(value);
  const { year, month, day, hour, minute, second } = found;
  return { year, month, day, hour, minute, second, ms: d.getUTCMilliseconds() };
}

// The other way. A time that a zone skips is taken as after the gap, one that it has twice as the first.
export function timeOf(parts: TimeParts, zone: Zone): number {
  const { year, month, day, hour, minute, second, ms } = parts;
  if (zone === "local") return new Date(year, month - 1, day, hour, minute, second, ms).getTime();
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  if (zone === "utc" || Number.isNaN(asUtc)) return asUtc;
  const offset = (time: number): number => {
    const p = timeParts(time, zone);
    return Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second, p.ms) - time;
  };
  // The offset in force lies a day before or after at most.
  const early = asUtc - offset(asUtc - 86_400_000);
  if (early + offset(early) === asUtc) return early;
  const late = asUtc - offset(asUtc + 86_400_000);
  return late + offset(late) === asUtc ? late : early;
}
