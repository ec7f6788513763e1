// A button that opens a panel under itself. Escape and a click elsewhere close it; the focus returns
// to the button.
import { h, freshId } from "./dom";

export interface Popover {
  root: HTMLElement;
  close(): void;
}

export function popover(button: HTMLButtonElement, panel: HTMLElement, onOpen?: () => void): Popover {
  if (!panel.id) panel.id = freshId("panel");
  panel.hidden = true;
  panel.classList.add("popover");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", panel.id);
  const root = h("div", { class: "popover-anchor" }, button, panel);

  const outside = (event: Event): void => {
    if (!root.contains(event.target as Node)) toggle(false);
  };
  const toggle = (open: boolean): void => {
    if (panel.hidden === !open) return;
    panel.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) {
      onOpen?.();
      document.addEventListener("pointerdown", outside);
      (panel.querySelector("[data-first], button, input, select") as HTMLElement | null)?.focus();
    } else {
      document.removeEventListener("pointerdown", outside);
    }
  };
  button.addEventListener("click", () => toggle(panel.hidden));
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    event.stopPropagation();
    toggle(false);
    button.focus();
  });
  return { root, close: () => toggle(false) };
}
