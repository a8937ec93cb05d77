import { NovaError, type Pipeline } from "@nova/engine";

/** Of an installation without models: a node that is to be written by one fails, and says so. */
export const noPipeline: Pipeline = {
  pinned: async () => null,
  generation: async ({ node }, key) => {
    throw new NovaError("ChainBroken", `node "${node.id}" began with generation ${key}, which nothing here can read`);
  },
  run: async ({ node }) => ({
    status: "failed",
    class: "ModelUnavailable",
    message: `no model is set up here that could write the code of "${node.id}" - write it by hand`,
    code: null,
    cacheHit: false,
    generation: null,
    sandboxId: null,
  }),
};
