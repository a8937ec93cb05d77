import { analysisFileOf, codeFileOf, lockFileName } from "@nova/workflow";
import { askApi } from "../../api/ask.ts";
import { type ExitCode, exitCodes } from "../../errors.ts";
import { print } from "../../output/terminal.ts";
import { readLockFolder } from "../folder.ts";
import { lockLines } from "../lines.ts";
import { type Planned, planLock } from "../plan.ts";
import { readSources } from "../sources.ts";
import { writeLock } from "../write.ts";

/** Locks what there is code for, and takes hand edits over. */
export async function lockFolder(asked: { path: string; from: string | undefined; json: boolean }): Promise<ExitCode> {
  const folder = await readLockFolder(asked.path);
  const planned = await askApi(async (nova) => planLock(folder, await readSources(nova, folder, asked.from)));
  const locked = Object.fromEntries(planned.flatMap(({ node, locked }) => (locked ? [[node, locked]] : [])));
  const { removed } = await writeLock(folder, locked);
  if (asked.json) print(JSON.stringify(resultOf(planned, removed)), true);
  else print(lockLines(planned, removed, folder.workflow.approval).join("\n"));
  return exitCodes.completed;
}

function resultOf(planned: readonly Planned[], removed: string[]) {
  return { lock_file: lockFileName, nodes: planned.map(itemOf), removed };
}

function itemOf({ node, action, locked }: Planned) {
  if (!locked) return { node, action };
  const { key, codeHash, analysisHash, origin, model, cost, createdAt, provenBy, approved } = locked;
  const analysis = { analysis_file: analysisFileOf(node), analysis_hash: analysisHash };
  return {
    ...{ node, action, file: codeFileOf(node), key, code_hash: codeHash, origin, model },
    ...(analysisHash !== undefined && analysis),
    ...{ cost_usd: cost.usd, created_at: createdAt, proven_by: provenBy ?? null, approved: approved ?? null },
  };
}
