// The steps of a query, each with a bar from its begin to its end.
import { h } from "../base/dom";
import { elapsed } from "../base/format";
import type { DoneQuery, QueryStep } from "../server/status";

const kLeastPercent = 0.5; // of a bar

// `opened` has the ids of queries whose steps are shown: the list around them is made anew often.
export function querySteps(query: DoneQuery, opened: Set<number>): HTMLElement {
  const steps = query.spans ?? [];
  if (!steps.length) return h("span", { class: "muted", text: "–" });
  const end = Math.max(...steps.map(({ beginMs, ms }) => beginMs + ms));
  const left = query.spansLeftOut ?? 0;
  const details = h(
    "details",
    { class: "steps", open: opened.has(query.id) },
    h("summary", { text: steps.length === 1 ? "1 step" : `${steps.length} steps` }),
    h("ol", {}, ...steps.map((step) => stepLine(step, end))),
    left > 0 ? h("p", { class: "muted", text: `${left} more` }) : null,
    query.traceId ? h("p", { class: "trace-id" }, "Trace ", h("code", { text: query.traceId })) : null,
  );
  details.addEventListener("toggle", () => {
    if (details.open) opened.add(query.id);
    else opened.delete(query.id);
  });
  return details;
}

function stepLine({ name, beginMs, ms, shard, points }: QueryStep, end: number): HTMLElement {
  const bar = h("i", { class: "step-bar" });
  const part = (time: number): number => (end > 0 ? (100 * time) / end : 0);
  const width = Math.max(kLeastPercent, part(ms));
  bar.style.marginLeft = `${Math.min(part(beginMs), 100 - width)}%`;
  bar.style.width = `${width}%`;
  const what = shard === undefined ? name : `${name} ${shard}`;
  const title = `after ${elapsed(beginMs)}${points === undefined ? "" : `, ${points} points`}`;
  return h(
    "li",
    { class: shard === undefined ? undefined : "step-part", title },
    h("span", { class: "step-name", text: what }),
    h("span", { class: "step-track" }, bar),
    h("span", { class: "number", text: elapsed(ms) }),
  );
}
