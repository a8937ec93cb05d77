import { serve } from "@nova/workflow";

/**
 * URL of this module, which is the code of a thread. `compile-sent.ts` imports it dynamically, so that a bundler keeps
 * it as a separate file.
 */
export const address = import.meta.url;

serve("compile", async () => ({
  compile: (await import("./compile-workflow.ts")).compileWorkflow,
  findLookedUpKeys: (await import("@nova/python")).findLookedUpKeys,
  checkCode: (await import("./check.ts")).checkCode,
}));
