import type { Pipeline, PromptTask } from "@nova/engine";

/** A pipeline where no model may ever be asked, whatever a run says. */
export function frozenPipeline(pipeline: Pipeline): Pipeline {
  const frozen = (task: PromptTask): PromptTask => ({ ...task, frozen: true });
  return {
    pinned: (task) => pipeline.pinned(frozen(task)),
    generation: (task, key) => pipeline.generation(frozen(task), key),
    run: (task, means, pinned) => pipeline.run(frozen(task), means, pinned),
  };
}
