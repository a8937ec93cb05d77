import type { CodeFinding, NodeFacts } from "@nova/python";
import type { createKnowledge } from "./knowledge/knowledge.ts";
import type { createPinnedCodes } from "./lock/pinned-codes.ts";
import type { Models } from "./model/models.ts";

/** Findings in a node's code without running it. */
export type CheckCode = (source: string, about: NodeFacts) => Promise<CodeFinding[]>;

/** What a pipeline is made of. */
export interface PipelineParts {
  models: Models;
  knowledge: ReturnType<typeof createKnowledge>;
  pinned: ReturnType<typeof createPinnedCodes>;
  check: CheckCode;
  /** `DEFAULT_MODEL`. */
  defaultModel?: string;
  /** pip names of what the sandbox template has. */
  packages: readonly string[];
  clock: { now(): number };
}
