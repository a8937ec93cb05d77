import { serve } from "@nova/workflow";

/** This file, or what a bundler made of it: a file of its own, since `within-time.ts` imports it dynamically. */
export const address = import.meta.url;

serve("python", async () => {
  const { checkNodeCode, listContextReads } = await import("@nova/python");
  return { checkNodeCode, listContextReads };
});
