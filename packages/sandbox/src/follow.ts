import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { NovaError } from "@nova/engine";
import { type AttachOptions, attach, HarnessFailure } from "./attach.ts";
import type { Connections } from "./connections.ts";
import { asRunError, IoFailure, isGone, isRefusedKey, MalformedAnswer } from "./failures.ts";
import type { LastAnswer } from "./messages.ts";

const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** A harness that fails this often in a row is short of something. A later delivery tries again. */
const maxHarnessFailures = 4;

export interface Followed {
  sandbox: string;
  lifetimeSeconds: number;
  makeInput: (nonce: string) => string;
  signal: AbortSignal;
  /** How often the control plane is asked whether the sandbox is still there. */
  lookAfterMs: number;
}

type Attaching = Omit<AttachOptions, "signal">;

/** An answer has been dealt with; "gone" and "unfinished" are what is left when there is none. */
export type Ending<T> = T | "gone" | "unfinished" | "refused";

/**
 * Attaches, and attaches again whenever the connection breaks, until there is an answer and `settle` has dealt with it,
 * the control plane knows no such sandbox, or the signal fires. A broken connection or a 502 never means that the code
 * has stopped.
 */
export async function followUntilAnswered<T>(
  connections: Connections,
  followed: Followed,
  options: Attaching,
  settle: (sandbox: E2bSandbox, answer: LastAnswer, signal: AbortSignal) => Promise<T>,
): Promise<Ending<T>> {
  const { sandbox, signal } = followed;
  const over = new AbortController();
  const listening = { ...followed, signal: AbortSignal.any([signal, over.signal]) };
  const watcher = watch(connections, followed);
  const patience = new Patience();
  try {
    for (let round = 0; !signal.aborted; round++) {
      try {
        return await Promise.race([once(connections, listening, pickContext(options, round), settle), watcher.end]);
      } catch (error) {
        if (isGone(error)) return "gone";
        patience.bear(error);
        connections.forget(sandbox); // the next round asks the control plane
        await pause(round, signal);
      }
    }
    return "unfinished";
  } finally {
    watcher.close();
    over.abort(); // what is on its way to or from the sandbox has nobody who waits for it
  }
}

/** What ends a run besides an answer: the signal, and the death of the sandbox behind a connection that stays silent. */
function watch(connections: Connections, { sandbox, signal, lookAfterMs }: Followed) {
  const { promise: end, resolve } = Promise.withResolvers<"gone" | "unfinished">();
  const onAbort = () => resolve("unfinished");
  signal.addEventListener("abort", onAbort);
  const timer = setInterval(async () => {
    if (await connections.isGone(sandbox)) resolve("gone");
  }, lookAfterMs);
  const close = () => {
    signal.removeEventListener("abort", onAbort);
    clearInterval(timer);
  };
  return { end, close };
}

/** Throws what attaching again will not cure. */
class Patience {
  #harnessFailures = 0;

  bear(error: unknown): void {
    if (error instanceof IoFailure) throw error.cause;
    if (error instanceof MalformedAnswer) throw error;
    if (isRefusedKey(error)) throw asRunError("the sandbox cannot be reached", error);
    this.#harnessFailures = error instanceof HarnessFailure ? this.#harnessFailures + 1 : 0;
    if (this.#harnessFailures < maxHarnessFailures) return;
    const reason = (error as HarnessFailure).message;
    const wayOut = "wait until other sandboxes have ended, or give this machine more resources";
    throw new NovaError("SandboxUnavailable", `the sandbox's harness fails (${reason}) - ${wayOut}`, { cause: error });
  }
}

async function once<T>(
  connections: Connections,
  { sandbox: id, lifetimeSeconds, makeInput, signal }: Followed,
  options: Attaching,
  settle: (sandbox: E2bSandbox, answer: LastAnswer, signal: AbortSignal) => Promise<T>,
): Promise<T | "refused"> {
  const sandbox = await connections.get(id, lifetimeSeconds);
  const answer = await attach(sandbox, makeInput, { ...options, signal });
  if (answer === "refused") return answer;
  if (answer.type === "trouble") throw new HarnessFailure(answer.message);
  return settle(sandbox, answer, signal);
}

/** After a broken attach the default context may still be busy with it. */
function pickContext(options: Attaching, round: number): Attaching {
  return round === 0 ? options : { ...options, ownContext: true };
}

/** Exponential, with full jitter. */
async function pause(round: number, signal: AbortSignal): Promise<void> {
  const limitMs = Math.min(longestPauseMs, firstPauseMs * 2 ** round);
  await sleep(Math.random() * limitMs, undefined, { signal }).catch(() => undefined); // fired: the caller looks
}
