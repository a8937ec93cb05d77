import type { Claim, CodeResult, Head, StoredEntry, StoredStep } from "@nova/engine";
import { entryName } from "../../../packages/engine/src/chain/ids.ts";
import { claimName, type Run } from "./sandbox-state.ts";

/** The entry of a prompt node, the steps that are stored for it, and all runs of code by claim. */
export interface Written {
  head: Head;
  entry: StoredEntry;
  stored: ReadonlyMap<number, StoredStep>;
  runs: ReadonlyMap<string, Run>;
}

/**
 * Returns the problems of a prompt node's entry. Its steps must be in the order of their journals. Each step, and the
 * entry itself, must contain the code that ran and the result of this code.
 */
export function judgeWritten({ head, entry, stored, runs }: Written): string[] {
  const steps = head.steps.map((hash) => Array.from(stored.values()).find((step) => step.hash === hash));
  if (!isInOrder(steps)) return ["lists other steps than its journals have"];
  const link = entryName({ execution: head.execution_id, scope: head.scope, seq: head.seq });
  const runOf = (place: Pick<Claim, "step" | "attempt">) => runs.get(claimName({ link, ...place }));
  const ran = steps.map((step) => step && runOf(placeOf(step)));
  const hit = head.cache_hit ? runOf({ step: 0, attempt: head.attempt }) : undefined;
  return [
    ...steps.flatMap((step, i) => (step ? judgeStep(step, steps.slice(0, i), ran[i]) : [])),
    ...(head.status === "success" ? judgeSuccess(entry, head.cache_hit ? [hit] : ran) : []),
  ];
}

/**
 * Returns whether the steps are numbered from 1 in each journal. The outcome of an attempt ends a journal, and the next
 * attempt starts a new one.
 */
function isInOrder(steps: readonly (StoredStep | undefined)[]): boolean {
  let next = 1;
  for (const step of steps) {
    const place = step && placeOf(step).step;
    if (place !== next && place !== ofAttempt) return false;
    next = place === ofAttempt ? 1 : next + 1;
  }
  return true;
}

const ofAttempt = 999;

/**
 * Splits a stored step number into the attempt and the step in the attempt. The steps of attempt n start at (n - 1) *
 * 1000.
 */
function placeOf({ step }: StoredStep): Pick<Claim, "step" | "attempt"> {
  return { step: step % 1000, attempt: Math.floor(step / 1000) + 1 };
}

/**
 * Checks that the right code ran for a step, and that the step contains the result of this code. For an analysis, the
 * right code is in the step itself. For any other step, it is the last code that was written before the step.
 */
function judgeStep(step: StoredStep, before: (StoredStep | undefined)[], run: Run | undefined): string[] {
  const { agent_name, attempt_number } = JSON.parse(step.text) as { agent_name: string; attempt_number: number };
  if (!run || attempt_number === 0) return [];
  const code = textOf(agent_name === "DataAnalyzer" ? step : before.findLast((other) => textOf(other, "code")), "code");
  const result = textOf(step, "result");
  const isStrange = result !== undefined && JSON.stringify(own(run.result)) !== result;
  return [
    ...(run.request.code === code ? [] : [`says of step ${step.step} that ${code} ran, not ${run.request.code}`]),
    ...(isStrange ? [`has a result in step ${step.step} that its run did not have`] : []),
  ];
}

function judgeSuccess(entry: StoredEntry, runs: (Run | undefined)[]): string[] {
  const text = textOf(entry, "context") ?? "";
  const isCommitted = (run: Run | undefined) =>
    run?.result?.status === "success" && run.result.set.every(({ json }) => text.includes(JSON.stringify(json)));
  return runs.some(isCommitted) ? [] : ["says success, and has what no run of it set"];
}

/**
 * Returns a result without the key under which code finds the analysis, because that key is not part of the stored
 * result.
 */
function own(result: CodeResult | undefined): CodeResult | undefined {
  if (result?.status !== "success") return result;
  return { ...result, set: result.set.filter(({ key }) => key !== "_data_analysis") };
}

function textOf(
  { contents = {} }: { contents?: Partial<Record<string, { text: string } | { blob: unknown }>> } = {},
  name: string,
): string | undefined {
  const content = contents[name];
  return content && "text" in content ? content.text : undefined;
}
