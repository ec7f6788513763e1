// Is there anything but what the server measures of itself?
import { metricsWithPrefix } from "./names";

const kOwnPrefix = "halite.";

// The first metric that is not the server's own, or null. Two questions, since its own ones may fill a page.
export async function firstForeignMetric(signal?: AbortSignal): Promise<string | null> {
  const before = await metricsWithPrefix("", 1, signal);
  if (before.length > 0 && !before[0].startsWith(kOwnPrefix)) return before[0];
  const some = await metricsWithPrefix("", 1000, signal);
  return some.find((name) => !name.startsWith(kOwnPrefix)) ?? null;
}
