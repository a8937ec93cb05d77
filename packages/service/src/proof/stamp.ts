import { type Clock, type Root, type Roots, readRoot, sha256 } from "@nova/engine";
import type { RootStore, TimeStamper } from "../ports/roots.ts";
import { type ProvingLimits, type ProvingPorts, proveClosedRuns } from "./prove.ts";

interface StampingPorts {
  roots: Pick<Roots, "read">;
  rootStore: Pick<RootStore, "stamps" | "createStamp">;
  clock: Clock;
  /** Absent: no authority is configured, and no root gets a stamp. */
  timeStamper?: TimeStamper;
}

/** The maximum number of stamps per job. A request for one stamp takes at most ten seconds. */
const maxStamps = 50;

/** Verifiers tolerate this difference between the clocks of NOVA and of the authority, in milliseconds. */
const toleranceMs = 5 * 60_000;

export interface Stamped {
  /** The number of roots that were stamped. */
  stamps: number;
  /** The reason why a root has no stamp yet; the next job tries again. */
  problem?: string;
}

/**
 * Gets a time stamp for each root without one, the oldest first, and stops at the first failure. So the stamped roots
 * have no gap. The function throws no error of the authority, but returns its message as `problem`.
 */
export async function stampRoots(
  { roots, rootStore, clock, timeStamper }: StampingPorts,
  until = Number.POSITIVE_INFINITY,
): Promise<Stamped> {
  const [last] = timeStamper ? await rootStore.stamps({ limit: 1 }) : [];
  let stamps = 0;
  for (let number = (last?.number ?? 0) + 1; timeStamper && stamps < maxStamps && clock.now() < until; number++) {
    const stored = await roots.read(number);
    if (!stored) break;
    const root = readRoot(stored);
    try {
      const { token, at } = await timeStamper.stamp(Buffer.from(sha256(root.text), "hex"));
      const delayMs = at.getTime() - Date.parse(root.at);
      if (delayMs < -toleranceMs) return { stamps, problem: `the stamp of root ${number} is older than the root` };
      const stamp = { number, token: Buffer.from(token).toString("base64"), at: at.toISOString() };
      await rootStore.createStamp({ ...stamp, delayMs: Math.max(0, delayMs) });
      stamps++;
    } catch (error) {
      if (!(error instanceof Error && error.name === "StampFailed")) throw error;
      return { stamps, problem: error.message };
    }
  }
  return { stamps };
}

/** The milliseconds at the end of a job in which the job makes no root, so that it has time to get stamps. */
const stampingMs = 15_000;

export interface Proved extends Stamped {
  made: Root[];
}

/** Runs the hourly job, which makes roots over the runs that have closed, and gets time stamps for roots. */
export async function proveAndStamp(
  ports: ProvingPorts & StampingPorts,
  { until = Number.POSITIVE_INFINITY, ...limits }: ProvingLimits = {},
): Promise<Proved> {
  const made = await proveClosedRuns(ports, { ...limits, until: until - stampingMs });
  return { made, ...(await stampRoots(ports, until)) };
}
