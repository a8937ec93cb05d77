import type { GenerationStore, Pipeline } from "@nova/engine";
import { templatePackages } from "@nova/workflow";
import { Environment } from "./environment.ts";
import { clock, lazyValue } from "./node-parts.ts";

/**
 * Creates the pipeline that writes the code of prompt nodes and answers text nodes. The first of these nodes in a
 * process loads the pipeline, because most nodes have code. The pipeline reads the key of a model only when it calls
 * the model.
 */
export function nodePipeline(variables: NodeJS.ProcessEnv, generations: GenerationStore): Pipeline {
  const env = Environment.parse(variables);
  const pipeline = lazyValue(() => makePipeline(env, variables, generations));
  return {
    pinned: async (task) => (await pipeline()).pinned(task),
    generation: async (task, key) => (await pipeline()).generation(task, key),
    run: async (...task) => (await pipeline()).run(...task),
    answer: async (task, means) => (await pipeline()).answer(task, means),
    converse: async (task, means) => (await pipeline()).converse(task, means),
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
