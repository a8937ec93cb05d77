import { currentGenerator } from "@nova/agents";
import type { NovaClient } from "@nova/client";
import { readGenerations } from "../api/recorded.ts";
import type { Recorded } from "../replay/recorded.ts";
import type { LockFolder } from "./folder.ts";
import type { PlanSources } from "./plan.ts";
import { latestRuns, runsOfExecution } from "./recorded.ts";

const latest = { max: 25, full: true };

/** Reads the data for a plan: the last success of each prompt node, in the execution `from` or in the latest ones. */
export async function readSources(
  nova: NovaClient,
  { workflow, prompts }: Pick<LockFolder, "workflow" | "prompts">,
  from: string | undefined,
): Promise<PlanSources> {
  const last = new Map<string, Recorded>();
  const wanted = new Set(prompts.map(({ node }) => node.id));
  const runs = from === undefined ? latestRuns(nova, workflow.id, latest) : runsOfExecution(nova, workflow.id, from);
  for await (const run of wanted.size > 0 ? runs : []) {
    const { node_id, status, ai_metadata } = run.entry;
    if (status !== "success" || !ai_metadata || !wanted.delete(node_id)) continue;
    last.set(node_id, run);
    if (wanted.size === 0) break;
  }
  const generations = await readGenerations(nova, workflow.id);
  const { listContextReads } = await import("@nova/python");
  return {
    used: (node) => last.get(node) ?? null,
    generations,
    generator: currentGenerator,
    readsOf: async (source) => listContextReads(source),
    now: new Date().toISOString(),
  };
}
