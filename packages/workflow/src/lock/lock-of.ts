import { didYouMean, type Finding, type FindingCode, finding } from "../findings/finding.ts";
import { nodesIn, type ReadBody, type ReadNode } from "../parse/read.ts";
import type { LockedCode, ReadLock } from "./lock-file.ts";
import { analysisFileOf, codeFileOf, lockedCodeOf, lockFileName, readLockFile } from "./lock-file.ts";

export function readLock(
  files: Record<string, string>,
  body: ReadBody,
  approval?: "required",
): { locked?: Record<string, LockedCode>; findings: Finding[] } {
  const read = readLockFile(files);
  if (!read) return { findings: [] };
  if ("problem" in read) {
    const wayOut = "take it from version control, or remove it and run nova lock";
    return { findings: [inLock("NOVA801", `${lockFileName} ${read.problem} - ${wayOut}`)] };
  }
  const nodes = promptNodesOf(body);
  const entries = Object.entries(read.nodes);
  const locked = entries.flatMap(([node, entry]) =>
    nodes.includes(node) && entry.state === "locked" ? [[node, lockedCodeOf(entry)] as const] : [],
  );
  const findings = entries.flatMap(([node, entry]) =>
    nodes.includes(node) ? checkEntry(node, entry, approval) : [unknownLockedNode(node, nodes)],
  );
  return { ...(locked.length > 0 && { locked: Object.fromEntries(locked) }), findings };
}

/** Returns the ids of prompt nodes, and of nodes that could not be read, because they may be prompt nodes. */
function promptNodesOf(body: ReadBody): string[] {
  const mayAsk = ({ node }: ReadNode) => !node || ("executor" in node && node.executor.kind === "prompt");
  return [...nodesIn(body)].filter(mayAsk).flatMap(({ id }) => id ?? []);
}

function checkEntry(node: string, entry: ReadLock, approval?: "required"): Finding[] {
  const { record } = entry;
  if (entry.state === "missing") {
    const wayOut = `take it from version control, or run nova lock to remove its entry from ${lockFileName}`;
    return [inLock("NOVA802", `node "${node}": its locked code ${entry.file} is not there - ${wayOut}`)];
  }
  if (entry.state === "edited") {
    const { file } = entry;
    const wayOut = "nova lock takes the edit as the new locked code; version control has the old one";
    const message = `node "${node}": ${file} was edited by hand, it is not the code that was locked - ${wayOut}`;
    return [finding("NOVA803", "$", message, { file, line: 1, column: 1 })];
  }
  if (approval !== "required" || record.approved) return [];
  const files = [codeFileOf(node), ...(record.analysisHash === undefined ? [] : [analysisFileOf(node)])];
  const wayOut = `look at ${files.join(" and ")}, then run nova lock approve <folder> ${node}`;
  return [inLock("NOVA805", `node "${node}": its locked code is not approved - ${wayOut}`)];
}

function unknownLockedNode(node: string, nodes: readonly string[]): Finding {
  const hint = didYouMean(node, [...nodes]) || " - nova lock removes it";
  return inLock("NOVA804", `${lockFileName} has code of "${node}", which is no prompt node here${hint}`);
}

function inLock(code: FindingCode, message: string): Finding {
  return finding(code, "$", message, { file: lockFileName, line: 1, column: 1 });
}
