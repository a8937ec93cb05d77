import type { CodeFinding } from "@nova/python";
import { DeadlineWorker, type Finding, finding, type WorkflowSource } from "@nova/workflow";
import type { SentFacts } from "./check.ts";
import type { Compiled, EmitOptions } from "./compile-workflow.ts";

/**
 * The time limit of a compilation. The largest real workflow needs far less time, and API Gateway's HTTP API requires
 * an answer within 30 seconds.
 */
const deadlineMs = 10_000;

const compiler = new DeadlineWorker({
  name: "compile",
  address: async () => (await import("./worker.ts")).address,
  deadlineMs,
});

/**
 * The largest number of findings in an answer. No person reads so many findings, and they fit into the 6 MB that a
 * Lambda can return.
 */
const maxFindings = 500;

/** Runs `compileWorkflow` in a thread. If the thread runs out of time or memory, the result has NOVA109. */
export async function compileSent(source: WorkflowSource, options: EmitOptions = {}): Promise<Compiled> {
  const stopped = (why: string): Compiled => {
    const message = `checking the workflow ${why} - divide it, and make its code and schemas shorter and flatter`;
    return { findings: [finding("NOVA109", "$", message)] };
  };
  const compiled = await compiler.callOr(stopped, "compile", source, options);
  return { ...compiled, findings: firstOf(compiled.findings) };
}

/**
 * Runs `findLookedUpKeys` in the same thread as `compileSent`. Returns "more" if the thread runs out of time or memory,
 * because the code may then read any data.
 */
export async function keysLookedUpSent(code: string): Promise<string[] | null | "more"> {
  return compiler.callOr<string[] | null | "more">(() => "more", "findLookedUpKeys", code);
}

/**
 * Runs `checkCode` in the same thread as `compileSent`. If the thread runs out of time or memory, the result has PY105.
 */
export async function checkCodeSent(code: string, facts: SentFacts): Promise<CodeFinding[]> {
  const stopped = (why: string): CodeFinding[] => {
    const message = `checking the code ${why} - write shorter and flatter code`;
    return [{ code: "PY105", severity: "error", message, line: 1, column: 1 }];
  };
  return compiler.callOr(stopped, "checkCode", code, facts);
}

function firstOf(findings: Finding[]): Finding[] {
  if (findings.length <= maxFindings) return findings;
  const shown = findings.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxFindings);
  const left = (findings.length - maxFindings).toLocaleString("en");
  const message = `there are ${left} findings more, which are not shown - correct the first ${maxFindings}, and ask again`;
  return [...shown, finding("NOVA115", "$", message)];
}

/**
 * Returns the sort rank of a finding. Errors precede warnings, so that the limit of findings does not hide an error.
 */
function rank({ severity }: Finding): number {
  return severity === "error" ? 0 : 1;
}
