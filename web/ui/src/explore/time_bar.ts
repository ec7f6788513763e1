// What the explore page puts into the bar on top: the time range with its arrows, and refreshing.
import { field, h, replace, select } from "../base/dom";
import { icon, type IconName } from "../base/icons";
import { TimePicker } from "../form/time_picker";
import type { State } from "../question/state";

export interface TimeBarEvents {
  onChange(change: Partial<State>): void;
  onRefresh(): void;
  onPan(part: number): void; // of the range; negative goes back in time
  onZoomOut(): void;
}

const kRefreshChoices = [0, 5, 10, 30, 60, 300].map((seconds) => ({
  value: String(seconds),
  text: seconds === 0 ? "off" : seconds < 60 ? `${seconds} s` : `${seconds / 60} min`,
}));

export class TimeBar {
  readonly root: HTMLElement;
  private readonly picker: TimePicker;
  private readonly refreshHost = h("div", { class: "refresh" });

  constructor(private readonly events: TimeBarEvents) {
    this.picker = new TimePicker(
      (range) => events.onChange(range),
      (zone) => events.onChange({ zone }),
    );
    this.root = h(
      "div",
      { class: "time-bar", role: "group", "aria-label": "Time" },
      iconButton("left", "Back by half the range", () => events.onPan(-0.5)),
      this.picker.root,
      iconButton("right", "Forward by half the range", () => events.onPan(0.5)),
      iconButton("zoomOut", "Double the range", () => events.onZoomOut()),
      iconButton("refresh", "Refresh now", () => events.onRefresh()),
      this.refreshHost,
    );
  }

  set(state: State): void {
    this.picker.set({ start: state.start, end: state.end }, state.zone);
    const control = select(kRefreshChoices, String(state.refreshSeconds), (value) =>
      this.events.onChange({ refreshSeconds: Number(value) }),
    );
    control.id = "auto-refresh";
    if (document.activeElement?.id !== control.id) replace(this.refreshHost, field("Refresh", control, "inline"));
  }
}

function iconButton(name: IconName, label: string, click: () => void): HTMLElement {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click } }, icon(name));
}
