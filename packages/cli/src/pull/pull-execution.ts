import type { NovaClient } from "@nova/client";
import type { RawJson, TraceEntry } from "@nova/engine";
import { nodeIndex, secretKeys, type Workflow, type WorkflowSource, writeWorkflow } from "@nova/workflow";
import { entriesOf, notRun, readBlob, readTrace, readWorkflow } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { readLockFolder } from "../lock/folder.ts";
import { planLock } from "../lock/plan.ts";
import { readSources } from "../lock/sources.ts";
import { lockedOf, writeLock } from "../lock/write.ts";
import { inNewFolder } from "../new-folder.ts";
import { writeInside } from "../write-inside.ts";
import { localContext } from "./local-context.ts";
import { demandFileName, demandIdentity, demandKey } from "./names.ts";

export interface PullRequest {
  execution: string;
  /** Absent: the whole workflow, from its beginning. */
  node: string | undefined;
  /** Absent: named after workflow and execution. */
  folder: string | undefined;
}

export interface Pulled {
  folder: string;
  workflow: string;
  version: number;
  /** Written, by path in the folder. */
  files: string[];
  /** Keys of secret values: only the caller of the run knows them. */
  secrets: string[];
}

/**
 * Makes a folder in which an execution can be run again on this machine: its version of the workflow with the code that
 * models wrote for it, the context that it (or one node of it) began with, and the bytes in that. Throws `InvalidInput`.
 */
export async function pullExecution(nova: NovaClient, { execution: id, node, ...asked }: PullRequest): Promise<Pulled> {
  const { execution, entries } = await readTrace(nova, id, { full: true });
  const { workflowId, version } = execution;
  demandIdentity({ workflowId, version });
  const workflow = await readWorkflow(nova, workflowId, version);
  const recorded = contextOf(entriesOf({ entries }), id, node);
  const context = await localContext(recorded.text, (sha256) => readBlob(nova, id, sha256));
  const secrets = [...secretKeys(workflow)].map(demandKey);
  const folder = asked.folder ?? `${workflowId}-${id.slice(-6).toLowerCase()}`;
  const { text, files } = written(workflow);
  const all = { ...files, "workflow.json": text, "context.json": context.text };
  await inNewFolder(folder, { wayOut: "name a new folder with --into" }, async () => {
    for (const [path, content] of Object.entries(all)) await writeInside(folder, path, content, { replaces: false });
    for (const { path, bytes } of context.files) await writeInside(folder, path, bytes, { replaces: false });
    if (hasPrompts(workflow)) await keepCode(nova, folder, id);
  });
  const paths = [...Object.keys(all), ...context.files.map(({ path }) => path)].sort();
  return { folder, workflow: workflowId, version, files: paths, secrets };
}

function contextOf(entries: readonly TraceEntry[], id: string, node: string | undefined): RawJson {
  const entry = node === undefined ? entries[0] : entries.findLast(({ node_id }) => node_id === node);
  if (!entry) throw notRun(node, id, entries);
  const context = node === undefined ? entry.output_result : entry.input_context;
  if (context) return context;
  throw new InvalidInput(`the context of ${id} was erased - there is nothing to run it with`);
}

/** What models wrote is locked in the folder as this execution ran it, so that no model is asked again. */
async function keepCode(nova: NovaClient, folder: string, id: string): Promise<void> {
  const lockFolder = await readLockFolder(folder);
  const planned = await planLock(lockFolder, await readSources(nova, lockFolder, id));
  await writeLock(lockFolder, lockedOf(planned));
}

function hasPrompts(workflow: Workflow): boolean {
  const nodes = nodeIndex(workflow).values();
  return nodes.some(({ node }) => "executor" in node && node.executor.kind === "prompt");
}

/** A definition from elsewhere may be anything, and names its files: none of them may lie outside. */
function written(workflow: Workflow): WorkflowSource {
  let source: WorkflowSource;
  try {
    source = writeWorkflow(workflow);
  } catch (cause) {
    throw new InvalidInput("the server answered no definition of a workflow - ask who runs it", { cause });
  }
  for (const [path, text] of Object.entries(source.files)) {
    demandFileName(path);
    if (typeof text !== "string") throw new InvalidInput(`the workflow has no text for "${path}" - it is not pulled`);
  }
  return source;
}
