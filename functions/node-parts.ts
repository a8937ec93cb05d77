import type { GenerationStore, Pipeline, Sandboxes } from "@nova/engine";
import { othersSandboxes, type SandboxesOptions } from "@nova/sandbox";

/** Parts that only functions which run nodes load, because they are most of a bundle: models, the checker of Python, the harness. */
export interface NodeParts {
  pipeline(variables: NodeJS.ProcessEnv, generations: GenerationStore): Pipeline;
  sandboxes(options: SandboxesOptions): Sandboxes;
}

const runsNoNodes = () => Promise.reject(new TypeError("this function runs no nodes"));

let parts: NodeParts = {
  pipeline: () => ({ pinned: runsNoNodes, generation: runsNoNodes, run: runsNoNodes, answer: runsNoNodes }),
  sandboxes: othersSandboxes,
};

/** Called by the module of a function that runs nodes or creates sandboxes, before the ports are created. */
export function provideNodeParts(provided: Partial<NodeParts>): void {
  parts = { ...parts, ...provided };
}

export function nodeParts(): NodeParts {
  return parts;
}
