import { DeadlineWorker, type Finding, finding, type WorkflowSource } from "@nova/workflow";
import type { Compiled, EmitOptions } from "./compile-workflow.ts";

/** Far more than the largest honest workflow takes. API Gateway's HTTP API answers within 30 seconds. */
const deadlineMs = 10_000;

const compiler = new DeadlineWorker({
  name: "compile",
  address: async () => (await import("./worker.ts")).address,
  deadlineMs,
});

/** More than a person reads. A Lambda answers at most 6 MB. */
const maxFindings = 500;

/** Runs `compileWorkflow` in a thread, which a definition may exhaust without harm: NOVA109. */
export async function compileSent(source: WorkflowSource, options: EmitOptions = {}): Promise<Compiled> {
  const stopped = (why: string): Compiled => {
    const message = `checking the workflow ${why} - divide it, and make its code and schemas shorter and flatter`;
    return { findings: [finding("NOVA109", "$", message)] };
  };
  const compiled = await compiler.callOr(stopped, "compile", source, options);
  return { ...compiled, findings: firstOf(compiled.findings) };
}

/** Runs `findLookedUpKeys` in the same thread; "more" for code that takes too long: it may read any key. */
export async function keysLookedUpSent(code: string): Promise<string[] | null | "more"> {
  return compiler.callOr<string[] | null | "more">(() => "more", "findLookedUpKeys", code);
}

function firstOf(findings: Finding[]): Finding[] {
  if (findings.length <= maxFindings) return findings;
  const shown = findings.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxFindings);
  const left = (findings.length - maxFindings).toLocaleString("en");
  const message = `there are ${left} findings more, which are not shown - correct the first ${maxFindings}, and ask again`;
  return [...shown, finding("NOVA115", "$", message)];
}

/** Sorts errors first, so that the limit does not hide them. */
function rank({ severity }: Finding): number {
  return severity === "error" ? 0 : 1;
}
