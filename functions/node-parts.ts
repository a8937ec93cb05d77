import type { GenerationStore, Pipeline, Sandboxes } from "@nova/engine";
import { othersSandboxes, type SandboxesOptions } from "@nova/sandbox";

/** Only what runs nodes has it, for it is most of a bundle: models, the checker of Python, the harness. */
export interface NodeParts {
  pipeline(variables: NodeJS.ProcessEnv, generations: GenerationStore): Pipeline;
  sandboxes(options: SandboxesOptions): Sandboxes;
}

const runsNoNodes = () => Promise.reject(new TypeError("this function runs no nodes"));

let parts: NodeParts = {
  pipeline: () => ({ pinned: runsNoNodes, generation: runsNoNodes, run: runsNoNodes, answer: runsNoNodes }),
  sandboxes: othersSandboxes,
};

/** By the module of a function that runs nodes or makes sandboxes, before ports are made. */
export function provideNodeParts(provided: Partial<NodeParts>): void {
  parts = { ...parts, ...provided };
}

export function nodeParts(): NodeParts {
  return parts;
}
