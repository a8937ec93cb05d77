import { serve } from "@nova/workflow";

/** URL of this module. `compile-sent.ts` imports it dynamically, so a bundler keeps it as a separate file. */
export const address = import.meta.url;

serve("compile", async () => ({
  compile: (await import("./compile-workflow.ts")).compileWorkflow,
  findLookedUpKeys: (await import("@nova/python")).findLookedUpKeys,
}));
