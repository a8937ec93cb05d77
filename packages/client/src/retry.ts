import { ApiUnreachable } from "./problem.ts";

export type Fetch = (request: Request) => Promise<Response>;

export interface Transport {
  fetch: Fetch;
  sleep(ms: number): Promise<void>;
}

const pausesMs = [200, 1_000, 3_000];
const longestPauseMs = 20_000;
const transientStatuses = new Set([429, 502, 503, 504]);

/**
 * Repeats requests that are safe to repeat: reads, replacements, deletions, and those with an `Idempotency-Key`. Throws
 * `ApiUnreachable`.
 */
export async function send(request: Request, { fetch, sleep }: Transport): Promise<Response> {
  const pauses = isRepeatable(request) ? pausesMs : [];
  for (const pauseMs of pauses) {
    const answer = await fetch(request.clone()).catch(() => undefined);
    if (answer && !transientStatuses.has(answer.status)) return answer;
    await answer?.body?.cancel();
    await sleep(retryAfterMs(answer) ?? pauseMs);
  }
  return fetch(request).catch((cause) => {
    throw unreachableError(request.url, cause);
  });
}

function isRepeatable({ method, headers }: Request): boolean {
  return (method !== "POST" && method !== "PATCH") || headers.has("idempotency-key");
}

function retryAfterMs(answer: Response | undefined): number | undefined {
  const seconds = Number(answer?.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, longestPauseMs) : undefined;
}

/** An error that says why the server at a URL does not answer. */
export function unreachableError(url: string, cause: unknown): Error {
  if (cause instanceof Error && cause.name === "AbortError") return cause;
  const { code } = ((cause as Error).cause ?? {}) as { code?: string };
  const why = code ?? (cause as Error).message;
  return new ApiUnreachable(`${new URL(url).origin} cannot be reached (${why}) - check the URL, and that it is up`, {
    cause,
  });
}
