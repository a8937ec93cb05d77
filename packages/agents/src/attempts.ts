import { generateCode, type Written } from "./agents/code-generator.ts";
import { type Ran, runCode } from "./agents/code-runner.ts";
import { validateCode } from "./agents/code-validator.ts";
import type { NodeRun } from "./agents/node-run.ts";
import { validateOutput } from "./agents/output-validator.ts";
import { embeddingOf } from "./agents/recall.ts";
import { done, type Ending, ended, endingOf, type Failure, type Result } from "./failures/failure.ts";

const maxAttempts = 3;

export interface Success extends Ran {
  written: Written;
}

/** Writes, checks, runs and judges code until it has done the task. */
export async function attemptTask(run: NodeRun): Promise<{ value: Success } | { ending: Ending }> {
  return attempts(run, async (attempt) => {
    const written = await writeChecked(run, attempt);
    if (written.kind !== "done") return written;
    const { code } = written.value;
    const ran = await runCode(run, attempt, code);
    if (ran.kind !== "done") return final(run, ran);
    const judged = await validateOutput(run, attempt, code, ran.value.result);
    if (judged.kind !== "done") return final(run, judged);
    return done({ ...ran.value, written: written.value });
  });
}

/** Code that had effects is not run a second time, nor is other code after it. */
function final<T>(run: NodeRun, result: Result<T>): Result<T> {
  const mayNotRepeat = result.kind === "failed" && run.task.node.effects === true;
  return mayNotRepeat ? ended(endingOf(result.failure)) : result;
}

/**
 * Where only approved code runs: writes code and checks it without running it, and keeps it for somebody to look at. The
 * node fails in any case. No analysis runs either, because its code would be nobody's.
 */
export async function proposeCode(run: NodeRun): Promise<Ending> {
  const { task, parts, spent: cost } = run;
  run.hasFollowedAnalysis = true;
  const end = await attempts(run, (attempt) => writeChecked(run, attempt));
  if ("ending" in end) return end.ending;
  await parts.pinned.propose(task, { ...end.value, cost, ...embeddingOf(run) });
  const wayOut = `nova lock <folder> shows it, nova lock approve <folder> ${task.node.id} lets it run`;
  return { class: "NodeFailed", message: `its code is written, and waits for somebody's approval - ${wayOut}` };
}

/** Attempts until one is done or ends the node; each is told how all before it failed. */
async function attempts<T>(
  run: NodeRun,
  attemptOnce: (attempt: number) => Promise<Result<T>>,
): Promise<{ value: T } | { ending: Ending }> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const result = await attemptOnce(attempt);
    if (result.kind === "done") return { value: result.value };
    if (result.kind === "ended") return { ending: result.ending };
    run.failures.push(result.failure);
  }
  const last = endingOf(run.failures.at(-1) as Failure);
  return { ending: { ...last, message: `Failed after ${maxAttempts} attempts: ${last.message}` } };
}

async function writeChecked(run: NodeRun, attempt: number): Promise<Result<Written>> {
  const written = await generateCode(run, attempt);
  if (written.kind !== "done") return written;
  run.code = written.value.code;
  const checked = await validateCode(run, attempt, written.value.code);
  return checked.kind === "done" ? written : checked;
}
