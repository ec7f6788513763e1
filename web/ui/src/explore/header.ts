// The bar on top: the name, the time range with its arrows, refreshing, the theme.
import { field, h, replace, select } from "../base/dom";
import { icon, logo, type IconName } from "../base/icons";
import { themeButton } from "../base/theme";
import { TimePicker } from "../form/time_picker";
import type { State } from "../question/state";
import { getJson } from "../server/api";

export interface HeaderEvents {
  onChange(change: Partial<State>): void;
  onRefresh(): void;
  onPan(part: number): void; // of the range; negative goes back in time
  onZoomOut(): void;
}

const kRefreshChoices = [0, 5, 10, 30, 60, 300].map((seconds) => ({
  value: String(seconds),
  text: seconds === 0 ? "off" : seconds < 60 ? `${seconds} s` : `${seconds / 60} min`,
}));

export class Header {
  readonly root: HTMLElement;
  private readonly picker: TimePicker;
  private readonly refreshHost = h("div", { class: "refresh" });
  private readonly version = h("span", { class: "version muted" });
  private readonly events: HeaderEvents;

  constructor(events: HeaderEvents) {
    this.events = events;
    this.picker = new TimePicker(
      (range) => events.onChange(range),
      (zone) => events.onChange({ zone }),
    );
    this.root = h(
      "header",
      { class: "header" },
      h("div", { class: "brand" }, logo(), h("h1", { text: "Halite" }), this.version),
      h(
        "div",
        { class: "time-bar", role: "group", "aria-label": "Time" },
        iconButton("left", "Back by half the range", () => events.onPan(-0.5)),
        this.picker.root,
        iconButton("right", "Forward by half the range", () => events.onPan(0.5)),
        iconButton("zoomOut", "Twice the range", () => events.onZoomOut()),
        iconButton("refresh", "Refresh now", () => events.onRefresh()),
        this.refreshHost,
        themeButton(),
      ),
    );
    void this.loadVersion();
  }

  set(state: State): void {
    this.picker.set({ start: state.start, end: state.end }, state.zone);
    const control = select(kRefreshChoices, String(state.refreshSeconds), (value) =>
      this.events.onChange({ refreshSeconds: Number(value) }),
    );
    control.id = "auto-refresh";
    if (document.activeElement?.id !== control.id) replace(this.refreshHost, field("Refresh", control, "inline"));
  }

  private async loadVersion(): Promise<void> {
    try {
      const { version } = await getJson<{ version?: string }>("api/version");
      this.version.textContent = version ?? "";
    } catch {
      this.version.textContent = ""; // decoration: the first query reports what is wrong
    }
  }
}

function iconButton(name: IconName, label: string, click: () => void): HTMLElement {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click } }, icon(name));
}
