import { generateCode, type Written } from "./agents/code-generator.ts";
import { endingOf, type Ran, runCode } from "./agents/code-runner.ts";
import { validateCode } from "./agents/code-validator.ts";
import type { NodeRun } from "./agents/node-run.ts";
import { validateOutput } from "./agents/output-validator.ts";
import { done, type Ending, ended, type Result } from "./failures/failure.ts";

export const mostAttempts = 3;

export interface Success extends Ran {
  written: Written;
}

/** Writes, checks, runs and judges code until it has done the task; each attempt is told how all before it failed. */
export async function attemptTask(run: NodeRun): Promise<{ success: Success } | { ending: Ending }> {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const result = await attemptOnce(run, attempt);
    if (result.kind === "done") return { success: result.value };
    if (result.kind === "ended") return { ending: result.ending };
    run.failures.push(result.failure);
  }
  const last = endingOf(run.failures.at(-1) as (typeof run.failures)[number]);
  return { ending: { ...last, message: `Failed after ${mostAttempts} attempts: ${last.message}` } };
}

async function attemptOnce(run: NodeRun, attempt: number): Promise<Result<Success>> {
  const written = await generateCode(run, attempt);
  if (written.kind !== "done") return written;
  const { code } = written.value;
  run.code = code;
  const checked = await validateCode(run, attempt, code);
  if (checked.kind !== "done") return checked;
  const ran = await runCode(run, attempt, code);
  if (ran.kind !== "done") return final(run, ran);
  const judged = await validateOutput(run, attempt, code, ran.value.result);
  if (judged.kind !== "done") return final(run, judged);
  return done({ ...ran.value, written: written.value });
}

/** Code that had effects is not run a second time, nor is other code after it. */
function final<T>(run: NodeRun, result: Result<T>): Result<T> {
  const mayNotRepeat = result.kind === "failed" && run.task.node.effects === true;
  return mayNotRepeat ? ended(endingOf(result.failure)) : result;
}
