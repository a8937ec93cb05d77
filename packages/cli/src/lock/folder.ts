import { dirname, resolve } from "node:path";
import {
  type Edge,
  isFileOfFolder,
  lockFileName,
  nodeIndex,
  parseWorkflow,
  type ReadLock,
  readLockFile,
  readWorkflowSource,
  type TaskNode,
  type Workflow,
} from "@nova/workflow";
import { InvalidInput, InvalidWorkflow } from "../errors.ts";

/** A node whose code a model writes. */
export interface PromptNode {
  node: TaskNode;
  edges: Edge[];
  version: { workflow: Workflow };
}

/** A workflow folder with its lock. */
export interface LockFolder {
  /** The path as the user typed it. */
  path: string;
  folder: string;
  /** The workflow without its lock, with which the locked code is compared. */
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

/** The prompt node with this id, or all. Throws `InvalidInput`. */
export function selectPrompts({ prompts, path }: LockFolder, id: string | undefined): PromptNode[] {
  if (id === undefined) return prompts;
  const found = prompts.filter(({ node }) => node.id === id);
  if (found.length > 0) return found;
  const ids = prompts.map(({ node }) => node.id).join(", ") || "none";
  throw new InvalidInput(`"${id}" is not a prompt node of ${path} - the prompt nodes are: ${ids}`);
}
