import type { DiskSpace } from "@nova/aws-local";
import type { ServicePorts } from "@nova/service";

/** The interval of the deployed sweeper. */
const sweepEveryMs = 60_000;

/** Repeats lost work at intervals. `atOnce`: runs start at once that waited in queues when the last process ended. */
export function keepSweeping(service: ServicePorts, disk: DiskSpace, atOnce: boolean) {
  const closing = new AbortController();
  /** The sweep under way, or the last one: sweeps never overlap. */
  let swept = Promise.resolve();
  const sweepNext = () => {
    swept = swept.then(() => sweep(service, disk, closing.signal));
  };
  if (atOnce) sweepNext();
  const timer = setInterval(sweepNext, sweepEveryMs).unref();
  return {
    /** Starts no further sweep. */
    end: () => clearInterval(timer),
    /** Cuts off the sweep under way: with closed stores, it would try each of a thousand runs. */
    cutOff() {
      closing.abort();
      return swept;
    },
  };
}

async function sweep(service: ServicePorts, disk: DiskSpace, signal: AbortSignal): Promise<void> {
  if (!disk.hasSpace) return;
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
