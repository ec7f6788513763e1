// Copies text and says so.
import { h } from "./dom";

let host: HTMLElement | null = null;
let timer = 0;

// A short message at the foot of the page, read out by screen readers.
export function toast(message: string): void {
  if (!host) {
    host = h("div", { class: "toast", role: "status", "aria-live": "polite" });
    document.body.append(host);
  }
  host.textContent = message;
  host.classList.add("toast-shown");
  window.clearTimeout(timer);
  timer = window.setTimeout(() => host?.classList.remove("toast-shown"), 2500);
}

export async function copyText(text: string, what: string): Promise<void> {
  const done = (await copyByApi(text)) || copyBySelection(text);
  toast(done ? `${what} copied` : `The browser does not allow this page to copy. ${what}: ${text}`);
}

// Browsers offer this only on https and on localhost.
async function copyByApi(text: string): Promise<boolean> {
  if (!navigator.clipboard) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function copyBySelection(text: string): boolean {
  const area = h("textarea", { class: "offscreen", "aria-hidden": "true", readonly: true });
  area.value = text;
  document.body.append(area);
  const focused = document.activeElement as HTMLElement | null;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return done;
}

export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
