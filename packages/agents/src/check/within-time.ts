import type { CodeFinding, NodeFacts } from "@nova/python";
import { DeadlineWorker } from "@nova/workflow";
import type { ContextRead } from "../lock/reads.ts";

/** What a model writes is checked in milliseconds; what a stranger's text had it write may be made to take hours. */
const python = new DeadlineWorker({
  name: "python",
  address: async () => (await import("./worker.ts")).address,
  deadlineMs: 10_000,
});

/** `checkNodeCode`, in a thread with a deadline. */
export async function checkCode(source: string, facts: NodeFacts): Promise<CodeFinding[]> {
  const stopped = (why: string): CodeFinding[] => {
    const message = `checking the code ${why} - write shorter and flatter code`;
    return [{ code: "PY105", severity: "error", message, line: 1, column: 1 }];
  };
  return python.callOr(stopped, "checkNodeCode", source, facts);
}

/** `listContextReads`, in a thread with a deadline; code that takes longer names no keys. */
export async function readsOf(source: string): Promise<ContextRead[]> {
  return python.callOr<ContextRead[]>(() => [], "listContextReads", source);
}
