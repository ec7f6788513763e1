// The points of each protocol since the page was opened, from the server's counters.
import type { Numbers } from "../server/status";

const kTaken = "ingest.points_total";
const kRefused = "ingest.points_refused_total";

class Growth {
  private before: Map<string, number> | null = null;
  private readonly grown = new Map<string, number>();

  constructor(private readonly name: string) {}

  take(numbers: Numbers): void {
    const now = numbers.by(this.name, "protocol");
    for (const [protocol, n] of this.before ? now : []) {
      const before = this.before?.get(protocol) ?? 0;
      const more = n < before ? n : n - before; // less than before: the server has started anew
      this.grown.set(protocol, (this.grown.get(protocol) ?? 0) + more);
    }
    this.before = now;
  }

  of(protocols: string[]): number {
    return protocols.reduce((sum, protocol) => sum + (this.grown.get(protocol) ?? 0), 0);
  }
}

export class Arrivals {
  begun = false; // it counts: numbers were taken once
  private readonly taken = new Growth(kTaken);
  private readonly refused = new Growth(kRefused);

  take(numbers: Numbers): void {
    this.taken.take(numbers);
    this.refused.take(numbers);
    this.begun = true;
  }

  // Points that were accepted.
  points(protocols: string[]): number {
    return this.taken.of(protocols);
  }

  refusedPoints(protocols: string[]): number {
    return this.refused.of(protocols);
  }
}
