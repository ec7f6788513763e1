// Colours of the lines, from the style sheet, so that each theme has its own.

const kColours = 10;

export function seriesColours(n: number): string[] {
  const style = getComputedStyle(document.documentElement);
  const base: string[] = [];
  for (let i = 0; i < kColours; i++) base.push(style.getPropertyValue(`--series-${i}`).trim() || "#888");
  const colours: string[] = [];
  for (let i = 0; i < n; i++) colours.push(base[i % kColours]);
  return colours;
}

// After the colours have been used up, the second round is dashed, the third dotted.
export function seriesDash(i: number): number[] | undefined {
  const round = Math.floor(i / kColours) % 3;
  return round === 0 ? undefined : round === 1 ? [6, 3] : [2, 3];
}

export function variable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
