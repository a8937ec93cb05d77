import { ApiUnreachable } from "./problem.ts";

export type Fetch = (request: Request) => Promise<Response>;

export interface Patience {
  fetch: Fetch;
  sleep(ms: number): Promise<void>;
}

const pausesMs = [200, 1_000, 3_000];
const longestPauseMs = 20_000;
const passing = new Set([429, 502, 503, 504]);

/** Repeats requests that ask, replace, delete or carry an `Idempotency-Key`. Throws `ApiUnreachable`. */
export async function send(request: Request, { fetch, sleep }: Patience): Promise<Response> {
  const pauses = isRepeatable(request) ? pausesMs : [];
  for (const pauseMs of pauses) {
    const answer = await fetch(request.clone()).catch(() => undefined);
    if (answer && !passing.has(answer.status)) return answer;
    await answer?.body?.cancel();
    await sleep(wantedPauseMs(answer) ?? pauseMs);
  }
  return fetch(request).catch((cause) => {
    throw notReached(request.url, cause);
  });
}

function isRepeatable({ method, headers }: Request): boolean {
  return (method !== "POST" && method !== "PATCH") || headers.has("idempotency-key");
}

function wantedPauseMs(answer: Response | undefined): number | undefined {
  const seconds = Number(answer?.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, longestPauseMs) : undefined;
}

/** Why nobody answers at an address, in a sentence. */
export function notReached(url: string, cause: unknown): Error {
  if (cause instanceof Error && cause.name === "AbortError") return cause;
  const { code } = ((cause as Error).cause ?? {}) as { code?: string };
  const why = code ?? (cause as Error).message;
  return new ApiUnreachable(`${new URL(url).origin} cannot be reached (${why}) - check the URL, and that it is up`, {
    cause,
  });
}
