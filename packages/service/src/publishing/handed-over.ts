import type { ServicePorts } from "../ports/index.ts";
import type { HandedOver } from "../ports/publications.ts";

/** What waits for this long was lost on its way, or waits behind many others; after every time, twice as long. */
const lostMs = 120_000;
const longestMs = 3_600_000;

type Clock = Pick<ServicePorts, "clock">;

export function isLost({ clock }: Clock, { times, at }: HandedOver): boolean {
  return clock.now() >= Date.parse(at) + Math.min(longestMs, lostMs * 2 ** times);
}

export function handedOverAgain({ clock }: Clock, before?: HandedOver): HandedOver {
  return { times: (before?.times ?? 0) + 1, at: new Date(clock.now()).toISOString() };
}
