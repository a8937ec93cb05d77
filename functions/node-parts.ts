import type { GenerationStore, Pipeline, Sandboxes } from "@nova/engine";
import { othersSandboxes, type SandboxesOptions } from "@nova/sandbox";

/**
 * What only a function that runs nodes has: models, the checker of Python and the harness are most of what a bundle
 * weighs. All other functions follow, or end, what it began.
 */
export interface NodeParts {
  pipeline(variables: NodeJS.ProcessEnv, generations: GenerationStore): Pipeline;
  sandboxes(options: SandboxesOptions): Sandboxes;
}

const runsNoNodes = () => Promise.reject(new TypeError("this function runs no nodes"));

let parts: NodeParts = {
  pipeline: () => ({ pinned: runsNoNodes, generation: runsNoNodes, run: runsNoNodes }),
  sandboxes: othersSandboxes,
};

/** By the module of a function that runs nodes or makes sandboxes, before ports are made. */
export function provideNodeParts(provided: Partial<NodeParts>): void {
  parts = { ...parts, ...provided };
}

export function nodeParts(): NodeParts {
  return parts;
}
