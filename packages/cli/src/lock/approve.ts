import { codeFileOf, type LockRecord } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { shellWord } from "../output/shell.ts";
import { type LockFolder, namedPrompts } from "./folder.ts";

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
