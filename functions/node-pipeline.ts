import { createModels, createPipeline, frozenPipeline, modelFreePipeline } from "@nova/agents";
import type { GenerationStore, Pipeline } from "@nova/engine";
import { templatePackages } from "@nova/workflow";
import { Environment } from "./environment.ts";
import { clock } from "./host.ts";

/** What writes the code of prompt nodes. Keys of models are asked for when one is called. */
export function nodePipeline(variables: NodeJS.ProcessEnv, generations: GenerationStore): Pipeline {
  const env = Environment.parse(variables);
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
