// A page of the app. One is shown at a time, under the bar that all share.

export interface Page {
  readonly root: HTMLElement; // what stands under the bar
  readonly tools: HTMLElement | null; // what the page puts into the bar
  enter(): void; // it is shown now, or its address (location.hash) has changed
  leave(): void; // another one is: nothing asks the server any more
}

export type PageId = "explore" | "metrics" | "status" | "start";

// "#/status" and the like; every other fragment is a question for the explore page.
export function pageOf(hash: string): PageId {
  const name = /^#\/([a-z]+)/.exec(hash)?.[1];
  return name === "metrics" || name === "status" || name === "start" ? name : "explore";
}
