import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox as E2bSandbox } from "@e2b/code-interpreter";
import { NovaError } from "@nova/engine";
import { type AttachOptions, attach, HarnessFailure } from "./attach.ts";
import type { Connections } from "./connections.ts";
import { asRunError, IoFailure, isGone, isRefusedKey, MalformedAnswer } from "./failures.ts";
import type { LastAnswer } from "./messages.ts";

const firstPauseMs = 50;
const longestPauseMs = 2_000;
/**
 * After this number of failures of the harness in a row, the delivery fails and a later one tries again. The reason is
 * a lack of memory or processes.
 */
const maxHarnessFailures = 4;

interface Followed {
  sandbox: string;
  lifetimeSeconds: number;
  makeInput: (nonce: string) => string;
  signal: AbortSignal;
  lookAfterMs: number;
}

/** The settled answer, or the reason why there is none. */
type Ending<T> = T | "gone" | "unfinished" | "refused";

/**
 * Attaches to the sandbox, and attaches again after every broken connection or 502, because the code may still run.
 * Ends when `settle` has handled an answer, when the control plane reports the sandbox as missing, or when the signal
 * aborts.
 */
export async function followUntilAnswered<T>(
  connections: Connections,
  followed: Followed,
  options: Omit<AttachOptions, "signal">,
  settle: (sandbox: E2bSandbox, answer: LastAnswer, signal: AbortSignal) => Promise<T>,
): Promise<Ending<T>> {
  const { sandbox, signal, lifetimeSeconds, makeInput } = followed;
  const over = new AbortController();
  const listening = AbortSignal.any([signal, over.signal]);
  const once = async (round: number) => {
    const connected = await connections.get(sandbox, lifetimeSeconds);
    // Each attach after the first one has a new kernel context, because the default context may still run the cell of
    // the broken attach.
    const own = { ownContext: options.ownContext || round > 0, signal: listening };
    const answer = await attach(connected, makeInput, { ...options, ...own });
    if (answer === "refused") return answer;
    if (answer.type === "trouble") throw new HarnessFailure(answer.message);
    return settle(connected, answer, listening);
  };
  const watcher = watch(connections, followed);
  const patience = new Patience();
  try {
    for (let round = 0; !signal.aborted; round++) {
      try {
        return await Promise.race([once(round), watcher.end]);
      } catch (error) {
        if (isGone(error)) return "gone";
        patience.bear(error);
        connections.forget(sandbox); // The next attach asks the control plane for the sandbox.
        await pause(round, signal);
      }
    }
    return "unfinished";
  } finally {
    watcher.close();
    over.abort("over"); // Ends the running transfers. A default reason would create a stack trace.
  }
}

/** Resolves `end` when the signal aborts, or when the sandbox is gone although its connection stays open. */
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

/** Decides which errors a further attach can cure, and throws the others. */
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

/** Waits before the next attach: exponentially longer after each attach, with full jitter. */
async function pause(round: number, signal: AbortSignal): Promise<void> {
  const limitMs = Math.min(longestPauseMs, firstPauseMs * 2 ** round);
  // If the signal ends the pause, the caller notices that.
  await sleep(Math.random() * limitMs, undefined, { signal }).catch(() => undefined);
}
