import { rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Change, type Generator, generationKey, ingredientsToday, staleness } from "@nova/agents";
import {
  analysisFileOf,
  codeFileOf,
  codeFileText,
  type Edge,
  hashOf,
  isFileOfFolder,
  type LockedCode,
  type LockRecord,
  lockFileName,
  lockText,
  nodeIndex,
  parseWorkflow,
  type ReadLock,
  readLockFile,
  readWorkflowSource,
  type TaskNode,
  type Workflow,
} from "@nova/workflow";
import { InvalidInput, InvalidWorkflow } from "../errors.ts";
import { writeInside } from "../files.ts";

export interface PromptNode {
  node: TaskNode;
  edges: Edge[];
  version: { workflow: Workflow };
}

export interface LockFolder {
  path: string;
  folder: string;
  /** The workflow without its lock. `nova lock` compares locked code with this definition. */
  workflow: Workflow;
  prompts: PromptNode[];
  /** The entries of the lock file by node; empty without a lock file. */
  entries: Record<string, ReadLock>;
}

/** Reads a workflow folder with its lock. Throws `InvalidInput`, `InvalidWorkflow`, `WorkflowSourceError`. */
export async function readLockFolder(path: string): Promise<LockFolder> {
  const source = await readWorkflowSource(path);
  if (!isFileOfFolder(source.fileName)) {
    throw new InvalidInput(
      `"${path}" is a single file - code can only be locked in a folder with workflow.json or workflow.ts`,
    );
  }
  const { [lockFileName]: _, ...files } = source.files;
  const { workflow, findings } = parseWorkflow({ ...source, files });
  if (!workflow) throw new InvalidWorkflow(path, findings);
  const lock = readLockFile(source.files);
  if (lock && "problem" in lock) {
    throw new InvalidInput(`${lockFileName} ${lock.problem} - take it from version control, or remove it`);
  }
  const folder = isFileOfFolder(path) ? dirname(resolve(path)) : resolve(path);
  const prompts = Array.from(nodeIndex(workflow).values()).flatMap(({ node, edges }) =>
    "executor" in node && node.executor.kind === "prompt" ? [{ node, edges, version: { workflow } }] : [],
  );
  return { path, folder, workflow, prompts, entries: lock?.nodes ?? {} };
}

/** Returns the prompt node with this id, or all prompt nodes if no id is given. Throws `InvalidInput`. */
export function selectPrompts({ prompts, path }: LockFolder, id: string | undefined): PromptNode[] {
  if (id === undefined) return prompts;
  const found = prompts.filter(({ node }) => node.id === id);
  if (found.length > 0) return found;
  const ids = prompts.map(({ node }) => node.id).join(", ") || "none";
  throw new InvalidInput(`"${id}" is not a prompt node of ${path} - the prompt nodes are: ${ids}`);
}

/**
 * `unlocked`: the node has no lock entry. `missing`: the code file is missing. `edited`: the user has edited the code
 * file. `stale`: the code was written for another definition. `unapproved`: the workflow requires an approval, which is
 * missing. `stranger`: no prompt node has this id.
 */
export type LockState = "locked" | "unlocked" | "missing" | "edited" | "stale" | "unapproved" | "stranger";

export interface NodeState {
  node: string;
  state: LockState;
  changes: Change[];
  record?: LockRecord;
}

/**
 * Returns the state in which a frozen run would find each node. The entries of the lock file without a prompt node come
 * last. The inputs of a run do not change the state of a node.
 */
export function lockStates({ prompts, entries }: LockFolder, generator: Generator): NodeState[] {
  const states = prompts.map((prompt) => stateOf(prompt, entries, generator));
  const known = new Set(prompts.map(({ node }) => node.id));
  const strangers = Object.entries(entries).filter(([node]) => !known.has(node));
  return [
    ...states,
    ...strangers.map(([node, { record }]): NodeState => ({ node, state: "stranger", changes: [], record })),
  ];
}

function stateOf(prompt: PromptNode, entries: LockFolder["entries"], generator: Generator): NodeState {
  const { node, version } = prompt;
  const entry = Object.hasOwn(entries, node.id) ? entries[node.id] : undefined;
  if (!entry) return { node: node.id, state: "unlocked", changes: [] };
  const { record, state } = entry;
  const common = { node: node.id, changes: [], record };
  if (state !== "locked") return { ...common, state };
  const today = ingredientsToday(prompt, generator, record.ingredients);
  if (generationKey(today) !== record.key) return { ...common, state: "stale", changes: staleness(record, today) };
  const isMissed = version.workflow.approval === "required" && !record.approved;
  return { ...common, state: isMissed ? "unapproved" : "locked" };
}

/** Writes only the lock file; the code files stay unchanged. */
export async function writeLockFile({ folder }: LockFolder, records: Record<string, LockRecord>): Promise<void> {
  await write(folder, lockFileName, lockText(records));
}

/**
 * Writes the code files and then the lock file. Returns the nodes whose entries were removed. Keeps files that the user
 * has edited.
 */
export async function writeLock(
  lockFolder: LockFolder,
  locked: Record<string, LockedCode>,
): Promise<{ removed: string[] }> {
  const { folder, entries } = lockFolder;
  const removed = Object.keys(entries).filter((node) => !Object.hasOwn(locked, node));
  if (Object.keys(locked).length === 0 && removed.length === 0) return { removed };
  for (const [node, { code, codeHash, analysis }] of Object.entries(locked)) {
    const entry = entries[node];
    if (entry?.state === "locked" && entry.record.codeHash === codeHash) continue;
    await write(folder, codeFileOf(node), codeFileText(code));
    if (analysis !== undefined) await write(folder, analysisFileOf(node), codeFileText(analysis));
  }
  await writeLockFile(lockFolder, locked);
  for (const [node, entry] of Object.entries(entries)) {
    const now = Object.hasOwn(locked, node) ? locked[node] : undefined;
    for (const file of goneFiles(node, entry, now)) await rm(join(folder, file), { force: true });
  }
  return { removed };
}

function goneFiles(node: string, entry: ReadLock, now: LockedCode | undefined): string[] {
  if (!now && entry.state !== "locked") return [];
  const analysis = entry.state === "missing" ? undefined : entry.analysis;
  const isAsLocked = analysis !== undefined && hashOf(analysis) === entry.record.analysisHash;
  return [
    ...(now ? [] : [codeFileOf(node)]),
    ...(isAsLocked && now?.analysis === undefined ? [analysisFileOf(node)] : []),
  ];
}

function write(folder: string, path: string, text: string): Promise<void> {
  return writeInside(folder, path, text, { replaces: true });
}
