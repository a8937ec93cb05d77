import { generateCode } from "./agents/code-generator.ts";
import { endingOf } from "./agents/code-runner.ts";
import { validateCode } from "./agents/code-validator.ts";
import type { NodeRun } from "./agents/node-run.ts";
import { embeddingOf } from "./agents/recall.ts";
import { mostAttempts } from "./attempts.ts";
import type { Ending } from "./failures/failure.ts";

/**
 * Where only approved code runs: writes code and checks it without running it, and keeps it for somebody to look at. The
 * node fails in any case. No analysis runs either, because its code would be nobody's.
 */
export async function proposeCode(run: NodeRun): Promise<Ending> {
  const { task, parts, spent: cost } = run;
  run.hasFollowedAnalysis = true;
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const end = await writeOnce(run, attempt);
    if (end.kind === "ended") return end.ending;
    if (end.kind === "done") {
      await parts.pinned.propose(task, { ...end.value, cost, ...embeddingOf(run) });
      const wayOut = `nova lock <folder> shows it, nova lock approve <folder> ${task.node.id} lets it run`;
      return { class: "NodeFailed", message: `its code is written, and waits for somebody's approval - ${wayOut}` };
    }
    run.failures.push(end.failure);
  }
  const last = endingOf(run.failures.at(-1) as (typeof run.failures)[number]);
  return { ...last, message: `Failed after ${mostAttempts} attempts: ${last.message}` };
}

async function writeOnce(run: NodeRun, attempt: number) {
  const written = await generateCode(run, attempt);
  if (written.kind !== "done") return written;
  run.code = written.value.code;
  const checked = await validateCode(run, attempt, written.value.code);
  return checked.kind === "done" ? written : checked;
}
