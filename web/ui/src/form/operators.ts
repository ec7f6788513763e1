// Downsample and rate of one sub-query.
import { checkbox, field, freshId, h, select } from "../base/dom";
import { newRate, newSubQuery, type SubQuery } from "../question/state";
import { parseDuration } from "../question/time_range";

const kFunctions = ["avg", "sum", "min", "max", "count", "last", "first", "median", "p95", "p99", "dev", "diff"];

const kFills = [
  { value: "none", text: "leave out" },
  { value: "nan", text: "gap (NaN)" },
  { value: "null", text: "gap (null)" },
  { value: "zero", text: "zero" },
];

// What OpenTSDB takes as an interval: 1m, 1dc (calendar), 0all (one point), or our "auto".
export function isInterval(text: string): boolean {
  return text === "auto" || /^0all$/i.test(text) || parseDuration(text.replace(/c$/i, "")) !== null;
}

export function downsampleFields(query: SubQuery, onChange: () => void): HTMLElement {
  const root = h("fieldset", { class: "operator" });
  const show = (): void => {
    const on = query.downsample !== null;
    const box = checkbox("Downsample", on, (checked) => {
      query.downsample = checked ? newSubQuery().downsample : null;
      show();
      root.querySelector<HTMLElement>("input")?.focus();
      onChange();
    }, "One point for each interval");
    box.classList.add("operator-title");
    root.replaceChildren(h("legend", { class: "offscreen", text: "Downsample" }), box);
    if (query.downsample) root.append(downsampleRow(query.downsample, onChange));
  };
  show();
  return root;
}

function downsampleRow(downsample: NonNullable<SubQuery["downsample"]>, onChange: () => void): HTMLElement {
  const listId = freshId("intervals");
  const interval = h("input", { type: "text", class: "short", list: listId, spellcheck: "false" });
  interval.value = downsample.interval;
  interval.addEventListener("change", () => {
    const text = interval.value.trim() || "auto";
    const good = isInterval(text);
    interval.setCustomValidity(good ? "" : "A number and a unit, such as 30s, 5m, 1h or 1d; or auto");
    interval.reportValidity();
    if (!good) return;
    downsample.interval = text;
    interval.value = text;
    onChange();
  });
  const known = ["auto", "10s", "30s", "1m", "5m", "15m", "1h", "6h", "1d", "1dc", "1nc", "0all"];
  const list = h("datalist", { id: listId }, ...known.map((value) => h("option", { value })));
  const functions = kFunctions.map((value) => ({ value, text: value }));
  return h(
    "div",
    { class: "row" },
    field("Interval", interval),
    list,
    field("Function", select(functions, downsample.aggregator, (value) => {
      downsample.aggregator = value;
      onChange();
    })),
    field("Empty spans", select(kFills, downsample.fill, (value) => {
      downsample.fill = value;
      onChange();
    })),
  );
}

export interface Fields {
  root: HTMLElement;
  show(): void; // the query was changed elsewhere
}

export function rateFields(query: SubQuery, onChange: () => void): Fields {
  const root = h("fieldset", { class: "operator" });
  const show = (): void => {
    const box = checkbox("Rate per second", query.rate !== null, (checked) => {
      query.rate = checked ? newRate() : null;
      show();
      root.querySelector<HTMLElement>("input")?.focus();
      onChange();
    }, "The growth of the value per second");
    box.classList.add("operator-title");
    root.replaceChildren(h("legend", { class: "offscreen", text: "Rate" }), box);
    if (query.rate) root.append(rateRow(query.rate, show, onChange));
  };
  show();
  return { root, show };
}

function rateRow(rate: NonNullable<SubQuery["rate"]>, show: () => void, onChange: () => void): HTMLElement {
  const counter = checkbox("Counter", rate.counter, (checked) => {
    rate.counter = checked;
    show();
    onChange();
  }, "The value only grows; a smaller value means a rollover or a reset");
  const row = h("div", { class: "row row-checks" }, counter);
  if (!rate.counter) return row;
  row.append(
    checkbox("Skip resets", rate.dropResets, (checked) => {
      rate.dropResets = checked;
      onChange();
    }, "Draws nothing where the counter was reset"),
  );
  const numbers = h(
    "div",
    { class: "row" },
    numberField("Rolls over at", "2⁶³ − 1", rate.counterMax, (text) => {
      rate.counterMax = text;
      onChange();
    }),
    numberField("Zero when above", "never", rate.resetValue, (text) => {
      rate.resetValue = text;
      onChange();
    }),
  );
  return h("div", {}, row, numbers);
}

function numberField(caption: string, placeholder: string, value: string, onCommit: (text: string) => void): HTMLElement {
  const input = h("input", { type: "text", inputmode: "numeric", placeholder, class: "short" });
  input.value = value;
  input.addEventListener("change", () => {
    const text = input.value.trim();
    const good = /^\d*$/.test(text);
    input.setCustomValidity(good ? "" : "A whole number, or empty");
    input.reportValidity();
    if (good) onCommit(text);
  });
  return field(caption, input, "grow");
}
