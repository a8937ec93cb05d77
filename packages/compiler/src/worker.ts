import { serve } from "@nova/workflow";

/** This file, or what a bundler made of it: a file of its own, since `compile-sent.ts` imports it dynamically. */
export const address = import.meta.url;

serve("compile", async () => ({
  compile: (await import("./compile-workflow.ts")).compileWorkflow,
  findLookedUpKeys: (await import("@nova/python")).findLookedUpKeys,
}));
