import type { Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/** Prompt nodes to write anew; `true`: all of them. */
export type FreshOption = string[] | true;

/** Ids of the nodes. Throws `InvalidInput` where one cannot be written anew. */
export async function freshNodes(
  workflow: Workflow,
  { fresh, frozen }: { fresh: FreshOption; frozen: boolean },
): Promise<string[]> {
  if (fresh !== true && fresh.length === 0) return [];
  const { freshProblem, promptNodes } = await import("@nova/engine");
  const ids = fresh === true ? promptNodes(workflow) : fresh;
  if (ids.length === 0) throw new InvalidInput("no node has a prompt, so none can be written anew - leave out --fresh");
  const problem = freshProblem(workflow, { fresh: ids, frozen });
  if (problem !== null) throw new InvalidInput(problem);
  return ids;
}
