import type { Generator } from "./generator.ts";
import { guideHashes } from "./guide-hashes.ts";

/**
 * This release's. Raise `version` when agents, prompts or checks change so much that code should be written again: every
 * lock file is stale then, and every frozen deployment stops. Requests ask for nothing but the model's own defaults.
 */
export const currentGenerator: Generator = {
  version: "1",
  settings: "default",
  guideHash: (name) => (Object.hasOwn(guideHashes, name) ? guideHashes[name] : undefined),
};
