// What was asked and what came back, letter for letter. (The graph and the table go through JavaScript's
// numbers, which round integers beyond 2^53; this does not.)
import { copyText, download } from "../base/copy";
import { h, replace } from "../base/dom";
import { bytes } from "../base/format";
import { icon } from "../base/icons";
import type { Frame, View } from "./frame";

const kShownMax = 200_000; // characters; a browser takes its time to lay out more

export class JsonView implements View {
  readonly root = h("div", { class: "json-view" });

  show(frame: Frame): void {
    const { answer, question, request } = frame;
    const cut = answer.length > kShownMax;
    replace(
      this.root,
      this.block("Question", request, question),
      this.block("Answer", cut ? `the first ${bytes(kShownMax)} of ${bytes(answer.length)}` : bytes(answer.length), answer, cut),
    );
  }

  private block(title: string, note: string, text: string, cut = false): HTMLElement {
    const copy = h(
      "button",
      { type: "button", class: "button button-small", on: { click: () => void copyText(text, title) } },
      icon("copy"),
      "Copy",
    );
    const save = h(
      "button",
      {
        type: "button",
        class: "button button-small",
        on: { click: () => download(`halite-${title.toLowerCase()}.json`, "application/json", text) },
      },
      icon("download"),
      "File",
    );
    return h(
      "section",
      {},
      h("div", { class: "view-bar" }, h("h2", { text: title }), h("span", { class: "muted mono", text: note }), copy, save),
      h("pre", { class: "mono raw", tabindex: "0", text: cut ? text.slice(0, kShownMax) : text }),
    );
  }
}
