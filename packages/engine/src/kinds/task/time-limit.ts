import type { Ports } from "../../ports/index.ts";

/** Seconds that a node may take beyond the timeout of its code: values travel to the code and back in them. */
export const graceSeconds = 120;

/** Fires when the time of code that began at `since` is over. The clock is read once, since it may jump. */
export function timeLimit(
  { clock, timer }: Pick<Ports, "clock" | "timer">,
  since: string,
  timeoutSeconds: number,
): AbortSignal {
  const wholeMs = (timeoutSeconds + graceSeconds) * 1000;
  const leftMs = Date.parse(since) + wholeMs - clock.now();
  return leftMs <= 0 ? AbortSignal.abort() : timer.timeout(Math.min(wholeMs, leftMs));
}

/** Why a node fails whose sandbox gave no result in time. */
export function overdueReason(timeoutSeconds: number) {
  const message = `its sandbox gave no result within the timeout of ${timeoutSeconds} s and ${graceSeconds} s more, and was killed - raise "timeout" if the code needs longer, or make what it reads and sets smaller`;
  return { class: "NodeTimeout", message } as const;
}

/** Why a node fails whose sandbox was gone when it was looked for after the timeout. */
export function goneReason(timeoutSeconds: number) {
  const message = `its sandbox ended after the timeout of ${timeoutSeconds} s without a result - raise "timeout" or make the code faster`;
  return { class: "NodeTimeout", message } as const;
}
