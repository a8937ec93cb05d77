import { readGuide } from "../knowledge/guides/guide.ts";
import { topics } from "../knowledge/guides/topics.ts";
import type { Generator } from "./generator.ts";

const names: ReadonlySet<string> = new Set(topics.map(({ guide }) => guide));

/**
 * This release's. Raise `version` when agents, prompts or checks change so much that code should be written again: every
 * lock file is stale then, and every frozen deployment stops. Requests ask for nothing but the model's own defaults.
 */
export const currentGenerator: Generator = {
  version: "1",
  settings: "default",
  guideHash: (name) => (names.has(name) ? readGuide(name).hash : undefined),
};
