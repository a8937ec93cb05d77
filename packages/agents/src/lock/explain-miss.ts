import type { Generation, PromptTask } from "@nova/engine";
import { allCandidates, waitsForApproval } from "./choose.ts";
import type { Generator } from "./generator.ts";
import { ingredientsToday } from "./ingredients.ts";
import { changeText, staleness } from "./staleness.ts";

/** Why a node that may only run kept code has none to run: one sentence, with the way out. */
export function explainMiss(task: PromptTask, generations: readonly Generation[], generator: Generator): string {
  const written = "run it once with a model (nova run <folder>), then nova lock <folder>";
  if (task.fresh && task.frozen) {
    return "its code is to be written anew, and no model may be asked here - start the run without fresh, or set NOVA_FROZEN=0";
  }
  const all = allCandidates(task, generations);
  const [latest] = all;
  if (!latest) return `there is no locked code, and a frozen run asks no model - ${written}`;
  if (waitsForApproval(task, generations, generator)) {
    const wayOut = `look at it, then run nova lock approve <folder> ${task.node.id}`;
    return `nobody has approved its code, and this workflow runs only approved code - ${wayOut}`;
  }
  const changes = staleness(latest, ingredientsToday(task, generator, latest.ingredients)).map(changeText);
  if (changes.length === 0) return `no run has proven the code that was written for it - ${written}`;
  return `its locked code was written for something else, changed since: ${changes.join(", ")} - ${written}`;
}
