import type { Finding } from "../findings/finding.ts";
import { nodesIn } from "../parse/body.ts";
import type { ReadBody } from "../parse/read.ts";
import { checkLock } from "./check-lock.ts";
import type { LockedCode } from "./locked-code.ts";
import { lockedCodeOf, readLockFile } from "./read-lock.ts";

/** The locked code of a workflow's prompt nodes, in alphabetical order, and what is wrong with it. */
export function lockOf(
  files: Record<string, string>,
  body: ReadBody,
  approval?: "required",
): { locked?: Record<string, LockedCode>; findings: Finding[] } {
  const read = readLockFile(files);
  if (!read) return { findings: [] };
  const nodes = promptNodesOf(body);
  const findings = checkLock(read, { nodes, ...(approval && { approval }) });
  if ("problem" in read) return { findings };
  const entries = Object.entries(read.nodes).filter(([node]) => nodes.includes(node));
  const locked = entries.flatMap(([node, entry]) =>
    entry.state === "locked" ? [[node, lockedCodeOf(entry)] as const] : [],
  );
  return { ...(locked.length > 0 && { locked: Object.fromEntries(locked) }), findings };
}

/** A node that could not be read may be one. */
function promptNodesOf(body: ReadBody): string[] {
  const prompts = [...nodesIn(body)].filter(
    ({ node }) => !node || ("executor" in node && node.executor.kind === "prompt"),
  );
  return prompts.flatMap(({ id }) => id ?? []);
}
