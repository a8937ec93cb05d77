import type { Pipeline } from "@nova/engine";

/** The pipeline for tests without prompt nodes. Every call to it fails. */
export const refusingPipeline: Pipeline = {
  pinned: refuse("for pinned code"),
  generation: refuse("for a generation"),
  run: refuse("to run"),
  answer: refuse("to answer"),
};

function refuse(what: string) {
  return async (): Promise<never> => {
    throw new RangeError(`the pipeline was asked ${what}, and no node has a prompt`);
  };
}
