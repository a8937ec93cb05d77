import { mayDecide } from "./findings/decision.ts";
import { readSubject } from "./findings/read-subject.ts";
import { Program } from "./scope/program.ts";

/** Whether the code of a decision can set `branch_decision`. False only where it is certain. */
export function setsBranchDecision(source: string, lib: Record<string, string> = {}): boolean {
  const program = Program.read(source);
  if (!program || Object.values(lib).some((module) => /branch_decision|dump/.test(module))) return true;
  return mayDecide(readSubject(program, { nodeType: "decision" }));
}
