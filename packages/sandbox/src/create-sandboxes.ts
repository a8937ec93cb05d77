import type { Sandboxes } from "@nova/engine";
import { harnessFile } from "./harness-file.ts";
import { sandboxesWith } from "./sandboxes.ts";

export interface SandboxesOptions {
  /** How often a running node's sandbox is looked after; a connection to a dead one may stay open. Default 20 s. */
  lookAfterMs?: number;
}

/** Sandboxes of E2B, new ones included. */
export function createSandboxes({ lookAfterMs }: SandboxesOptions = {}): Sandboxes {
  return sandboxesWith(harnessFile, lookAfterMs);
}
