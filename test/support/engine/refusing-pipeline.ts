import type { Pipeline } from "@nova/engine";

/** Of worlds without prompt nodes: to be asked at all is a mistake. */
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
