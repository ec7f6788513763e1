// Calls to the server that sent this page. Addresses are relative, so the page also works under a prefix.

export class ApiError extends Error {
  query: number | null = null; // the place in State.expressions of the one that failed; null: of none

  constructor(
    message: string,
    readonly status: number, // 0: no answer at all
    readonly details = "",
  ) {
    super(message);
  }
}

export interface Reply {
  text: string;
  ms: number; // from asking to the last byte
}

// True for what an AbortController causes: not an error, the asker has lost interest.
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function call(path: string, init: RequestInit): Promise<Reply> {
  const begin = performance.now();
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { ...init, cache: "no-store", credentials: "same-origin" });
    text = await response.text();
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(`No answer from ${location.host}`, 0, error instanceof Error ? error.message : "");
  }
  if (!response.ok) throw fromBody(response.status, text);
  return { text, ms: performance.now() - begin };
}

// OpenTSDB's envelope: {"error":{"code":400,"message":"...","details":"..."}}
// Prometheus':          {"status":"error","errorType":"bad_data","error":"..."}
function fromBody(status: number, text: string): ApiError {
  try {
    const error = JSON.parse(text).error;
    if (typeof error === "string") return new ApiError(error, status);
    const details = typeof error.details === "string" && error.details !== error.message ? error.details : "";
    return new ApiError(String(error.message), status, details);
  } catch {
    return new ApiError(`The server answered ${status}`, status, text.slice(0, 500));
  }
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const reply = await call(path, { signal });
  return parse(reply.text) as T;
}

export const kQueryPath = "api/query?arrays";

export async function postQuery(body: string, signal: AbortSignal): Promise<Reply> {
  return call(kQueryPath, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
    signal,
  });
}

export async function postForm(path: string, fields: [string, string][], signal: AbortSignal): Promise<Reply> {
  return call(path, { method: "POST", body: new URLSearchParams(fields), signal });
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // An answer is streamed: when something breaks half way, it just ends.
    const why = error instanceof Error ? error.message : "";
    throw new ApiError("The answer is incomplete", 200, why);
  }
}

// A change: its answer has no body.
export async function send(method: string, path: string): Promise<void> {
  await call(path, { method });
}
