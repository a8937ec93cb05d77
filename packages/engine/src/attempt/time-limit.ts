import type { Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { graceSeconds } from "../sandboxes/spec.ts";

/** Fires when the time of code that started at `since` is over. The clock is read once, since it may jump. */
export function timeLimit(
  { clock, timer }: Pick<Ports, "clock" | "timer">,
  since: string,
  timeoutSeconds: number,
): AbortSignal {
  const wholeMs = (timeoutSeconds + graceSeconds) * 1000;
  const leftMs = Date.parse(since) + wholeMs - clock.now();
  return leftMs <= 0 ? AbortSignal.abort() : timer.timeout(Math.min(wholeMs, leftMs));
}

/** The failure of a node whose sandbox gave no result in time. */
export function overdueReason(timeoutSeconds: number) {
  const message = `its sandbox gave no result within the timeout of ${timeoutSeconds} s and ${graceSeconds} s more, and was killed - raise "timeout" if the code needs longer, or make what it reads and sets smaller`;
  return { class: "NodeTimeout", message } as const;
}

/** The failure of a node whose sandbox was gone when a delivery looked for it after the timeout. */
export function goneReason(timeoutSeconds: number) {
  const message = `its sandbox ended after the timeout of ${timeoutSeconds} s without a result - raise "timeout" or make the code faster`;
  return { class: "NodeTimeout", message } as const;
}

/** The failure of a node whose sandbox is gone while its code may have been running. */
export function lostReason({ sandbox }: Turn) {
  const message = `the sandbox ${sandbox} was lost while the node's code may have been running - declare "effects": false if it may run again`;
  return { class: "NodeInterrupted", message } as const;
}
