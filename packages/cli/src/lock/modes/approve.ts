import { analysisFileOf, codeFileOf, type LockRecord } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import { type ExitCode, exitCodes, InvalidInput } from "../../errors.ts";
import { print } from "../../output/terminal.ts";
import { type LockFolder, namedPrompts, readLockFolder } from "../folder.ts";
import { writeLockFile } from "../write.ts";

/** Notes in the lock file that somebody has looked at the code of a node. */
export async function approveNode(asked: { path: string; node: string; by: string; json: boolean }): Promise<ExitCode> {
  const { path, node, by, json } = asked;
  const folder = await readLockFolder(path);
  const approved = { by, at: new Date().toISOString() };
  const records = approveLocked(folder, node, approved);
  await writeLockFile(folder, records);
  if (json) print(JSON.stringify({ node, code_hash: records[node]?.codeHash, approved }), true);
  else print(`${node}: ${filesOf(node, records[node])} approved by ${by}`);
  return exitCodes.completed;
}

function filesOf(node: string, record: LockRecord | undefined): string {
  return record?.analysisHash === undefined ? codeFileOf(node) : `${codeFileOf(node)} and ${analysisFileOf(node)}`;
}

/** What the lock file says with the code of one node approved. Throws `InvalidInput` where there is nothing to approve. */
export function approveLocked(
  folder: LockFolder,
  id: string,
  approved: NonNullable<LockRecord["approved"]>,
): Record<string, LockRecord> {
  namedPrompts(folder, id);
  const entry = folder.entries[id];
  const file = entry && "file" in entry ? entry.file : codeFileOf(id);
  const wayOut = `run nova lock ${shellWord(folder.path)}, look at ${file}, then approve it`;
  if (!entry) throw new InvalidInput(`node "${id}" has no locked code yet - ${wayOut}`);
  if (entry.state === "missing") throw new InvalidInput(`${file} is not there - ${wayOut}`);
  if (entry.state === "edited") throw new InvalidInput(`${file} was edited since it was locked - ${wayOut}`);
  const records = Object.entries(folder.entries).map(([node, { record }]) => [node, record] as const);
  return { ...Object.fromEntries(records), [id]: { ...entry.record, approved } };
}
