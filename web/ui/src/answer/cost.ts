// What a query cost, as the server tells it with showSummary. Of PromQL: prometheus.ts

export interface Cost {
  series?: number; // read; PromQL does not tell
  samples?: number; // PromQL only: that its selectors and ranges took, each as often as it was taken
  pointsRead: number;
  pointsOut: number;
  blocks: number;
  chunksDecoded: number;
  chunksSkipped: number; // met, but nothing in them was wanted
  totals: number; // spans told by what is kept beside their points
  ms: number; // within the server
  stages: Record<string, number>; // ms
}

export function decodeCost(answer: unknown): Cost | null {
  if (!Array.isArray(answer)) return null;
  for (let i = answer.length - 1; i >= 0; i--) {
    const cost = answer[i]?.statsSummary?.halite;
    if (cost) return cost as Cost;
  }
  return null;
}
