import type { Sandboxes } from "@nova/engine";
import { sandboxesWith } from "./sandboxes.ts";

/** Sandboxes that others have created: a process that runs no nodes carries no harness. */
export function othersSandboxes(): Sandboxes {
  return sandboxesWith(() => Promise.reject(new TypeError("this function runs no nodes and creates no sandboxes")));
}
