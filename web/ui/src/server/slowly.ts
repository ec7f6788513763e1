// Reads an answer without holding up the page: what the mouse does meanwhile is seen.
import { pause } from "../base/pause";
import { parse } from "./api";

const kReadMs = 8; // at once: half of a frame

// Gives each piece, read as JSON, to `take`. Returns what `pieces` returns, or null where `stop` came first.
export async function slowly<R>(
  pieces: Generator<string, R>,
  take: (item: unknown) => void,
  stop: AbortSignal,
): Promise<R | null> {
  let begin = performance.now();
  for (;;) {
    const next = pieces.next();
    if (next.done) return next.value;
    take(parse(next.value));
    if (performance.now() - begin < kReadMs) continue;
    await pause();
    if (stop.aborted) return null;
    begin = performance.now();
  }
}
