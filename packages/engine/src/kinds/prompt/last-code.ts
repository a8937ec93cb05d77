import type { JournalStep } from "../../ports/pipeline.ts";

/** What a node that came to no good end says was its code. Analysis code looks at the data, and is not the node's. */
export function lastCode(steps: readonly JournalStep[]): string | null {
  const written = steps.findLast(({ generated_code, agent_name }) => generated_code && agent_name !== "DataAnalyzer");
  return written?.generated_code ?? null;
}
