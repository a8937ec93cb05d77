import { lookup } from "node:dns/promises";
import {
  type Clock,
  type GenerationStore,
  type HostNames,
  NovaError,
  type Pipeline,
  type Sandboxes,
  type Timer,
} from "@nova/engine";
import { othersSandboxes, type SandboxesOptions } from "@nova/sandbox";
import { templatePackages } from "@nova/workflow";
import { Environment } from "./environment.ts";

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

export const clock: Clock = { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };

export const timer: Timer = { timeout: (ms) => AbortSignal.timeout(ms) };

/** Codes of a name that does not exist, or has no address. */
const noSuchName = ["ENOTFOUND", "ENODATA"];

/** Looks names up with the resolver of the system. */
export const hostNames: HostNames = {
  async addressesOf(host) {
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address);
    } catch (cause) {
      if (noSuchName.includes(String((cause as NodeJS.ErrnoException).code))) return [];
      throw new NovaError("SandboxUnavailable", `"${host}" of network.allow cannot be looked up for now`, { cause });
    }
  },
};

/** Defers `make` to the first call, and keeps its result. */
export function lazyValue<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Writes the code of prompt nodes, and answers text nodes. The first such node loads it, because most nodes have code;
 * a call of a model reads the key.
 */
export function nodePipeline(variables: NodeJS.ProcessEnv, generations: GenerationStore): Pipeline {
  const env = Environment.parse(variables);
  const pipeline = lazyValue(() => makePipeline(env, variables, generations));
  return {
    pinned: async (task) => (await pipeline()).pinned(task),
    generation: async (task, key) => (await pipeline()).generation(task, key),
    run: async (...task) => (await pipeline()).run(...task),
    answer: async (task, means) => (await pipeline()).answer(task, means),
  };
}

async function makePipeline(
  env: Environment,
  variables: NodeJS.ProcessEnv,
  generations: GenerationStore,
): Promise<Pipeline> {
  const { createModels, createPipeline, frozenPipeline, modelFreePipeline } = await import("@nova/agents");
  const pipeline = createPipeline({
    models: createModels(variables),
    generations,
    packages: templatePackages,
    defaultModel: env.DEFAULT_MODEL,
    docstrings: env.NOVA_DOCSTRINGS,
    clock,
  });
  if (env.NOVA_MODELS === "off") return modelFreePipeline(pipeline);
  return env.NOVA_FROZEN ? frozenPipeline(pipeline) : pipeline;
}
