import { analysisFileOf, codeFileOf, type LockRecord } from "@nova/workflow";
import { type ExitCode, exitCodes } from "../../errors.ts";
import { print } from "../../output/terminal.ts";
import { approveLocked } from "../approve.ts";
import { readLockFolder } from "../folder.ts";
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
