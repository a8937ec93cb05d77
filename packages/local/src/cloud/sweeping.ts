import type { Room } from "@nova/aws-local";
import type { ServicePorts } from "@nova/service";

/** As often as the schedule of the deployed sweeper. */
const sweepEveryMs = 60_000;

/** Repeats what was lost, from time to time; `atOnce`: what waited in queues when the last process ended begins. */
export function keepSweeping(service: ServicePorts, room: Room, atOnce: boolean) {
  const closing = new AbortController();
  /** The sweep that is under way, or the last one: they never overlap. */
  let swept = Promise.resolve();
  const sweepNext = () => {
    swept = swept.then(() => sweep(service, room, closing.signal));
  };
  if (atOnce) sweepNext();
  const timer = setInterval(sweepNext, sweepEveryMs).unref();
  return {
    /** Begins no further sweep. */
    end: () => clearInterval(timer),
    /** Cuts off the sweep that is under way. A sweep of a thousand runs that finds its stores closed would try each. */
    cutOff() {
      closing.abort();
      return swept;
    },
  };
}

async function sweep(service: ServicePorts, room: Room, signal: AbortSignal): Promise<void> {
  if (!room.isThere) return;
  try {
    const { eraseExpired, sweepService } = await import("@nova/service");
    const { broken } = await sweepService(service, { signal });
    for (const { part, error } of broken) {
      process.emitWarning(`the sweeper failed at ${part} and will try again: ${error}`);
    }
    if (signal.aborted) return;
    const [first, ...others] = (await eraseExpired(service)).failed;
    if (!first) return;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    process.emitWarning(`retention failed at ${first.id}${more} and will try again: ${first.reason}`);
  } catch (error) {
    process.emitWarning(`the sweeper failed and will try again: ${error}`);
  }
}
