import type { NovaClient } from "@nova/client";
import type { RawJson, TraceEntry } from "@nova/engine";
import { nodeIndex, secretKeys, type Workflow, type WorkflowSource, writeWorkflow } from "@nova/workflow";
import { listEntries, notRunError, readBlob, readTrace, readWorkflow } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { readLockFolder } from "../lock/folder.ts";
import { planLock } from "../lock/plan.ts";
import { readSources } from "../lock/sources.ts";
import { plannedCode, writeLock } from "../lock/write.ts";
import { inNewFolder } from "../new-folder.ts";
import { writeInside } from "../write-inside.ts";
import { buildLocalContext } from "./local-context.ts";
import { demandFileName, demandIdentity, demandKey } from "./names.ts";

export interface PullRequest {
  execution: string;
  /** Absent: the whole workflow. */
  node: string | undefined;
  /** Absent: named after workflow and execution. */
  folder: string | undefined;
}

export interface Pulled {
  folder: string;
  workflow: string;
  version: number;
  /** The written files, by path in the folder. */
  files: string[];
  /** Keys of secrets: only the caller of the run has their values. */
  secrets: string[];
}

/**
 * Makes a folder to run an execution again on this machine: its version of the workflow with the code that models
 * wrote, the initial context of the execution or of a node, and the files in it. Throws `InvalidInput`.
 */
export async function pullExecution(nova: NovaClient, { execution: id, node, ...asked }: PullRequest): Promise<Pulled> {
  const { execution, entries } = await readTrace(nova, id, { full: true });
  const { workflowId, version } = execution;
  demandIdentity({ workflowId, version });
  const workflow = await readWorkflow(nova, workflowId, version);
  const recorded = contextOf(listEntries({ entries }), id, node);
  const context = await buildLocalContext(recorded.text, (sha256) => readBlob(nova, id, sha256));
  const secrets = [...secretKeys(workflow)].map(demandKey);
  const folder = asked.folder ?? `${workflowId}-${id.slice(-6).toLowerCase()}`;
  const { text, files } = renderWorkflow(workflow);
  const all = { ...files, "workflow.json": text, "context.json": context.text };
  await inNewFolder(folder, { wayOut: "name a new folder with --into" }, async () => {
    for (const [path, content] of Object.entries(all)) await writeInside(folder, path, content, { replaces: false });
    for (const { path, bytes } of context.files) await writeInside(folder, path, bytes, { replaces: false });
    if (hasPrompts(workflow)) await lockCode(nova, folder, id);
  });
  const paths = [...Object.keys(all), ...context.files.map(({ path }) => path)].sort();
  return { folder, workflow: workflowId, version, files: paths, secrets };
}

function contextOf(entries: readonly TraceEntry[], id: string, node: string | undefined): RawJson {
  const entry = node === undefined ? entries[0] : entries.findLast(({ node_id }) => node_id === node);
  if (!entry) throw notRunError(node, id, entries);
  const context = node === undefined ? entry.output_result : entry.input_context;
  if (context) return context;
  throw new InvalidInput(`the context of ${id} was erased, so it cannot run again`);
}

/** Locks the code that this execution used, so that no model writes it again. */
async function lockCode(nova: NovaClient, folder: string, id: string): Promise<void> {
  const lockFolder = await readLockFolder(folder);
  const planned = await planLock(lockFolder, await readSources(nova, lockFolder, id));
  await writeLock(lockFolder, plannedCode(planned));
}

function hasPrompts(workflow: Workflow): boolean {
  const nodes = nodeIndex(workflow).values();
  return nodes.some(({ node }) => "executor" in node && node.executor.kind === "prompt");
}

/**
 * Renders a definition that a server has sent. It may be anything, so every file name is checked: none may be outside
 * the folder.
 */
function renderWorkflow(workflow: Workflow): WorkflowSource {
  let source: WorkflowSource;
  try {
    source = writeWorkflow(workflow);
  } catch (cause) {
    throw new InvalidInput("the server sent no valid definition of a workflow - ask its operator", { cause });
  }
  for (const [path, text] of Object.entries(source.files)) {
    demandFileName(path);
    if (typeof text !== "string")
      throw new InvalidInput(`the workflow has no text for "${path}" - it cannot be pulled`);
  }
  return source;
}
