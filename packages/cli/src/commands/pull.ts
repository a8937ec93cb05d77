import { join } from "node:path";
import type { NovaClient } from "@nova/client";
import { asReference, type ExactValue, parseExact, type RawJson, type TraceEntry } from "@nova/engine";
import { nodeIndex, secretKeys, type Workflow, type WorkflowSource, writeWorkflow } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi } from "../api/ask.ts";
import { demandContent, listEntries, notRunError, readBlob, readTrace, readWorkflow } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import { inNewFolder, writeInside } from "../files.ts";
import { type ExactObject, mapMembers, mapObjects, mapValue } from "../input/context.ts";
import { readLockFolder, writeLock } from "../lock/folder.ts";
import { planLock, plannedCode, readSources } from "../lock/plan.ts";
import { styled } from "../output/terminal.ts";
import { command } from "./command.ts";

export const pull = command({
  summary: "make a folder to run an execution, or one node of it, again on this machine",
  takes: {
    "<execution_id>": "",
    "--node <id>": "with the context that this node received",
    "--into <folder>": "a new folder; absent: named after workflow and execution",
  },
  async run([execution = ""], { node, into }) {
    const asked = { execution, node, folder: into };
    const { folder, secrets, ...pulled } = await askApi((nova) => pullExecution(nova, asked));
    const alone = node === undefined ? [] : ["--node", node];
    const settings = secrets.flatMap((key) => ["--set", `${key}=...`]);
    // The printed command has --local. Without --local, a server would publish the pulled old version as the latest
    // version.
    const words = ["nova", "run", folder, "--local", ...alone, "--context", join(folder, "context.json"), ...settings];
    const run = words.map(shellWord).join(" ");
    const what = `version ${pulled.version} of ${pulled.workflow} and its inputs`;
    return {
      json: { execution_id: execution, folder, ...pulled, secrets, run },
      text: [`${folder} has ${what}. Run it:`, styled("bold", `  ${run}`)],
    };
  },
});

export interface PullRequest {
  execution: string;
  /** The node to pull with its inputs; undefined: the whole workflow. */
  node: string | undefined;
  /** The folder to make; undefined: a folder whose name consists of the workflow and the execution. */
  folder: string | undefined;
}

export interface Pulled {
  folder: string;
  workflow: string;
  version: number;
  /** The paths of the written files, relative to the folder. */
  files: string[];
  /**
   * Keys of secrets. The folder does not contain the secrets, because NOVA records none; the caller of the run has to
   * give them again.
   */
  secrets: string[];
}

/**
 * Makes a folder in which an execution can run again on this machine. It contains the version of the workflow with the
 * code that models wrote, the initial context of the execution or of `node`, and the files of this context. Throws
 * `InvalidInput`.
 */
export async function pullExecution(nova: NovaClient, { execution: id, node, ...asked }: PullRequest): Promise<Pulled> {
  const { workflow: workflowId, version, entries } = await readTrace(nova, id, { full: true });
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
 * Renders a definition that a server has sent. The server is not trusted, so every file name is checked: no file may be
 * outside the folder.
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

/**
 * Matches the id of a workflow. The command refuses any other id, because a folder name and a printed command contain
 * the id.
 */
const workflowId = /^[a-z0-9][a-z0-9-]{0,63}$/;

const readable = /\.(py|txt|md)$/;
const maxNameBytes = 255;
const maxPathBytes = 1024;

/** Checks the id and version of a workflow that a server has sent. Throws `InvalidInput`. */
export function demandIdentity({ workflowId: id, version }: { workflowId: unknown; version: unknown }): void {
  const isId = typeof id === "string" && workflowId.test(id);
  if (isId && Number.isSafeInteger(version) && (version as number) > 0) return;
  throw new InvalidInput("the server sent no valid id and version of a workflow - ask its operator");
}

/** Checks a file name in a definition that a server has sent. Throws `InvalidInput`. */
export function demandFileName(path: string): void {
  const names = path.split("/");
  const isPlain = names.every(
    (name) => name !== "" && !name.startsWith(".") && Buffer.byteLength(name) <= maxNameBytes,
  );
  const isText = !/[\p{C}\\:]/u.test(path) && Buffer.byteLength(path) <= maxPathBytes;
  if (isPlain && isText && (readable.test(path) || path === "workflow.lock.json")) return;
  const shown = JSON.stringify(path.replaceAll(/\p{C}/gu, " ").slice(0, 100));
  throw new InvalidInput(
    `the workflow names the file ${shown}, which is not a code file of its folder - it cannot be pulled`,
  );
}

/** Checks the key of an input, because the user must be able to type it. Throws `InvalidInput`. */
export function demandKey(key: string): string {
  if (!/\p{C}/u.test(key)) return key;
  throw new InvalidInput(
    "an input of the workflow has a character in its name that cannot be typed - it cannot be pulled",
  );
}

/** A file that a context names by `{"$file": path}`, relative to the context file. */
export interface ContextFile {
  path: string;
  bytes: Uint8Array;
}

type Load = (sha256: string) => Promise<Uint8Array | null>;

/** The limit for the size of all values together. All values are in memory until the command writes them. */
const maxBytes = 1024 * 1024 * 1024;

/**
 * Converts a recorded context into a file for `nova run --context`. Large texts and large JSON values replace their
 * references, bytes become files, and erased values become null.
 */
export async function buildLocalContext(text: string, load: Load): Promise<{ text: string; files: ContextFile[] }> {
  const files = new Map<string, ContextFile>();
  let bytesLeft = maxBytes;
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    // `JSON.parse` may change digits of numbers. That does not matter here, because a reference is not user data.
    const ref = "$blob" in value ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
    if (!ref) return mapMembers(value, visit, plainKey);
    bytesLeft -= Math.max(0, ref.bytes);
    if (bytesLeft < 0)
      throw new InvalidInput(`the context has more than ${maxBytes} bytes (1 GB) - it is too large to pull`);
    const bytes = await load(ref.sha256);
    if (bytes === null) return null;
    demandContent(ref, bytes);
    if (ref.type === "text") return Buffer.from(bytes).toString();
    if (ref.type === "json") return mapValue(parseExact(Buffer.from(bytes).toString()), visit);
    const path = `files/${ref.sha256.slice(0, 16)}`;
    files.set(path, { path, bytes });
    return { $file: path };
  };
  return { text: `${await mapObjects(text, visit, 2)}\n`, files: [...files.values()] };
}

/**
 * Converts a key of a record to a key of a context file. A record adds a `$` to a key that looks like `$blob`. A
 * context file adds a `$` to a key that looks like `$file`.
 */
function plainKey(key: string): string {
  if (/^\$\$+blob$/.test(key)) return key.slice(1);
  return /^\$+file$/.test(key) ? `$${key}` : key;
}
