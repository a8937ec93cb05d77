import type { Sandboxes } from "@nova/engine";
import { harnessFile } from "./harness-file.ts";
import { sandboxesWith } from "./sandboxes.ts";

export interface SandboxesOptions {
  /** How often a running node's sandbox is looked after; a connection to a dead one may stay open. Default 20 s. */
  lookAfterMs?: number;
  /** Resolves, with the milliseconds waited, when a new one may be made; absent: at once. */
  pace?: (() => Promise<number>) | undefined;
}

/** Sandboxes of E2B, new ones included. */
export function createSandboxes({ lookAfterMs, pace }: SandboxesOptions = {}): Sandboxes {
  const sandboxes = sandboxesWith(harnessFile, lookAfterMs);
  if (!pace) return sandboxes;
  return {
    ...sandboxes,
    async create(spec) {
      await pace();
      return sandboxes.create(spec);
    },
  };
}
