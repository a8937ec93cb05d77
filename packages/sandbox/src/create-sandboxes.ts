import { NovaError, type Sandboxes } from "@nova/engine";
import { harnessFile } from "./harness-file.ts";
import { sandboxesWith } from "./sandboxes.ts";

export interface SandboxesOptions {
  /** How often a running node's sandbox is looked after; a connection to a dead one may stay open. Default 20 s. */
  lookAfterMs?: number;
  /** Resolves to true when a new one may be made, to false after a second or so in vain; absent: one may be at once. */
  pace?: (() => Promise<boolean>) | undefined;
}

/** Of a second each; whoever would have to wait for longer is told so instead: a Lambda that waits is paid. */
const maxTries = 30;

/** Sandboxes of E2B, new ones included. */
export function createSandboxes({ lookAfterMs, pace }: SandboxesOptions = {}): Sandboxes {
  const sandboxes = sandboxesWith(harnessFile, lookAfterMs);
  if (!pace) return sandboxes;
  return {
    ...sandboxes,
    async create(spec, instead) {
      for (let tries = 0; tries < maxTries; tries++) {
        if (await pace()) return sandboxes.create(spec);
        const other = await instead?.();
        if (other) return other;
      }
      const wayOut = "try again later, or use a plan of E2B that makes more of them (NOVA_E2B_CREATES_PER_SECOND)";
      throw new NovaError("SandboxUnavailable", `too many runs wait for a new sandbox - ${wayOut}`);
    },
  };
}
