// Light, dark, or what the system says. The choice is kept in this browser; <html data-theme> always
// carries the theme in force, and "halite-theme" tells those who paint canvases.
import { h, replace } from "./dom";
import { icon, type IconName } from "./icons";

type Choice = "system" | "light" | "dark";

const kKey = "halite.theme";
const kNext: Record<Choice, Choice> = { system: "light", light: "dark", dark: "system" };
const kIcons: Record<Choice, IconName> = { system: "auto", light: "sun", dark: "moon" };

export const kThemeEvent = "halite-theme";

function stored(): Choice {
  try {
    const value = localStorage.getItem(kKey);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system"; // storage may be forbidden: the system's theme is still a theme
  }
}

function store(choice: Choice): void {
  try {
    localStorage.setItem(kKey, choice);
  } catch {
    // Not kept: the choice then lasts as long as the page.
  }
}

export function themeButton(): HTMLElement {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let choice = stored();
  const button = h("button", { type: "button", class: "icon-button", id: "theme" });
  const use = (): void => {
    const theme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
    document.documentElement.dataset.theme = theme;
    const label = `Theme: ${choice === "system" ? "system" : choice}`;
    button.setAttribute("aria-label", label);
    button.title = label;
    replace(button, icon(kIcons[choice]));
    window.dispatchEvent(new Event(kThemeEvent));
  };
  button.addEventListener("click", () => {
    choice = kNext[choice];
    store(choice);
    use();
  });
  dark.addEventListener("change", use);
  use();
  return button;
}
