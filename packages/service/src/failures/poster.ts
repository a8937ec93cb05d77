import { setTimeout as sleep } from "node:timers/promises";
import { HostRefused } from "@nova/engine";
import type { Outgoing } from "../outgoing/outgoing.ts";
import type { Poster } from "../ports/mail.ts";

/** The server did not accept the request. */
export class PostFailed extends Error {
  override name = "PostFailed";
}

/** Builds a poster that retries temporary failures after each of `pausesMs` (milliseconds). */
export function createPoster(outgoing: Pick<Outgoing, "fetch">, pausesMs = [500, 2_000, 5_000]): Poster {
  return {
    async post(request) {
      for (const pauseMs of [...pausesMs, undefined]) {
        const problem = await attempt(request, outgoing);
        if (problem === undefined) return;
        if (!problem.passes || pauseMs === undefined) throw problem.error;
        await sleep(pauseMs);
      }
    },
  };
}

interface Problem {
  error: Error;
  /** Whether a retry may succeed. */
  passes: boolean;
}

async function attempt(
  { url, body, headers }: Parameters<Poster["post"]>[0],
  outgoing: Pick<Outgoing, "fetch">,
): Promise<Problem | undefined> {
  const { host } = new URL(url);
  try {
    const answer = await outgoing.fetch(url, { method: "POST", body, headers });
    await answer.body?.cancel();
    if (answer.ok) return undefined;
    const error = new PostFailed(`${host} answered ${answer.status} - look there`);
    return { error, passes: answer.status >= 500 || answer.status === 408 || answer.status === 429 };
  } catch (cause) {
    if (cause instanceof HostRefused) return { error: cause, passes: false };
    const why = cause instanceof Error ? cause.message : String(cause);
    return { error: new PostFailed(`${host} does not answer (${why}) - look there`, { cause }), passes: true };
  }
}
