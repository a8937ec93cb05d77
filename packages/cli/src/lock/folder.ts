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

/** A node whose code a model writes, as its definition says it. */
export interface PromptNode {
  node: TaskNode;
  edges: Edge[];
  version: { workflow: Workflow };
}

/** A workflow kept as files, and what is locked in it. */
export interface LockFolder {
  /** As it was typed. */
  path: string;
  folder: string;
  /** Without its lock: what the code in there is compared with. */
  workflow: Workflow;
  prompts: PromptNode[];
  /** What the lock file says, by node; empty where there is none. */
  entries: Record<string, ReadLock>;
}

/** Throws `InvalidInput`, `InvalidWorkflow`, `WorkflowSourceError`. */
export async function readLockFolder(path: string): Promise<LockFolder> {
  const source = await readWorkflowSource(path);
  if (!isFileOfFolder(source.fileName)) {
    throw new InvalidInput(
      `"${path}" is a lone file - code is locked in a folder, beside its workflow.json or workflow.ts`,
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

/** The one that is named, or all. Throws `InvalidInput`. */
export function namedPrompts({ prompts, path }: LockFolder, id: string | undefined): PromptNode[] {
  if (id === undefined) return prompts;
  const found = prompts.filter(({ node }) => node.id === id);
  if (found.length > 0) return found;
  const ids = prompts.map(({ node }) => node.id).join(", ") || "none";
  throw new InvalidInput(`"${id}" is no prompt node of ${path} - the prompt nodes are: ${ids}`);
}
