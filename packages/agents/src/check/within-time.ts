import type { CodeFinding, NodeFacts } from "@nova/python";
import { DeadlineWorker } from "@nova/workflow";
import type { ContextRead } from "../lock/ingredients.ts";

/**
 * Checks code in a thread with a deadline. A check normally takes milliseconds, but hostile data can make a model write
 * code whose check takes hours.
 */
const python = new DeadlineWorker({
  name: "python",
  address: async () => (await import("./worker.ts")).address,
  deadlineMs: 10_000,
});

/** Runs `checkNodeCode` in a thread with a deadline. */
export async function checkCode(source: string, facts: NodeFacts): Promise<CodeFinding[]> {
  const stopped = (why: string): CodeFinding[] => {
    const message = `checking the code ${why} - write shorter and flatter code`;
    return [{ code: "PY105", severity: "error", message, line: 1, column: 1 }];
  };
  return python.callOr(stopped, "checkNodeCode", source, facts);
}

/** Runs `listContextReads` in a thread with a deadline. Returns no reads after the deadline. */
export async function readsOf(source: string): Promise<ContextRead[]> {
  return python.callOr<ContextRead[]>(() => [], "listContextReads", source);
}
