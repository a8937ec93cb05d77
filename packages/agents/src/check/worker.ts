import { serve } from "@nova/workflow";

/** URL of this file or of its bundle. `within-time.ts` imports it dynamically, so the bundler emits a separate file. */
export const address = import.meta.url;

serve("python", async () => {
  const { checkNodeCode, listContextReads } = await import("@nova/python");
  return { checkNodeCode, listContextReads };
});
