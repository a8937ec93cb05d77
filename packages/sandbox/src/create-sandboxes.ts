import { NovaError, type Sandboxes } from "@nova/engine";
import { harnessFile } from "./harness-file.ts";
import { connectSandboxes } from "./sandboxes.ts";

export interface SandboxesOptions {
  /**
   * The interval at which NOVA checks that a node's sandbox is alive, because a connection to a dead sandbox may stay
   * open. Absent: 20 seconds.
   */
  lookAfterMs?: number;
  /** Resolves to true when a sandbox may be created, and to false after a second without success. Absent: no limit. */
  pace?: (() => Promise<boolean>) | undefined;
}

/**
 * The largest number of tries, each of about a second. A longer wait is an error, because a waiting Lambda costs money.
 */
const maxTries = 30;

/** Creates the port to E2B sandboxes for processes that create sandboxes. */
export function createSandboxes({ lookAfterMs, pace }: SandboxesOptions = {}): Sandboxes {
  const sandboxes = connectSandboxes(harnessFile, lookAfterMs);
  if (!pace) return sandboxes;
  return {
    ...sandboxes,
    async create(spec, instead, onSlot) {
      for (let tries = 0; tries < maxTries; tries++) {
        if (await pace()) {
          onSlot?.();
          return sandboxes.create(spec);
        }
        const other = await instead?.();
        if (other) return other;
      }
      const wayOut = "try again later, or use a plan of E2B that makes more of them (NOVA_E2B_CREATES_PER_SECOND)";
      throw new NovaError("SandboxUnavailable", `too many runs wait for a new sandbox - ${wayOut}`);
    },
  };
}
