import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Compiled } from "@nova/compiler";
import type { FileInPlace, FileInput } from "@nova/engine";
import { freshProblem, promptNodes } from "@nova/engine";
import type { Call } from "@nova/service";
import {
  demandLeadsInside,
  type Finding,
  type HistoryBudget,
  isFileOfFolder,
  isWorkflowFolder,
  type ParsedWorkflow,
  type Workflow,
} from "@nova/workflow";
import { InvalidInput, InvalidWorkflow, throwInvalid } from "../errors.ts";
import { placeContextFiles, readContext, readFiles } from "../input/context.ts";
import { findUnpriced, oneNodeWorkflow, readAndParse } from "../input/workflow.ts";

interface InputOptions {
  context: string | undefined;
  set: string[];
  file: string[];
}

interface RunOptions extends InputOptions {
  node: string | undefined;
  frozen: true | undefined;
  fresh: FreshOption;
  client: string | undefined;
  reuse: string | undefined;
}

export interface Checked {
  workflow: Workflow;
  /** The state machine as JSON text. */
  definition: string;
  history?: HistoryBudget | undefined;
}

export interface RunRequest extends Checked {
  path: string;
  isOneNode: boolean;
  called: Called;
  /** The initial context as JSON text. */
  context: string;
  files: (FileInput | FileInPlace)[];
  /** If true, no model writes code: prompt nodes run locked code, or fail. Text nodes still call their model. */
  frozen: boolean;
  fresh: string[];
  /** The client of the run; absent: none. */
  client?: string | undefined;
  reuse?: string | undefined;
  warnings: Finding[];
}

/**
 * The parts of a request that are known before the command has checked the Python of the nodes. This check takes longer
 * than all other preparations of a run.
 */
export interface RunDraft
  extends Pick<RunRequest, "path" | "context" | "files" | "frozen" | "client" | "reuse">,
    Pick<RunOptions, "node" | "fresh"> {
  parsed: ParsedWorkflow;
  called: ReadCalled;
}

/** Reads the workflow and its inputs. Throws `InvalidWorkflow`, `InvalidInput`. */
export async function readDraft(path: string, options: RunOptions): Promise<RunDraft> {
  const [parsed, { context, files }] = await Promise.all([readAndParse(path), readInputs(options)]);
  const frozen = options.frozen === true || isFrozenHere(process.env);
  const { node, client, fresh, reuse } = options;
  const draft = { path, parsed, called: nothingCalled, node, context, files, frozen, fresh, client, reuse };
  const { workflow } = parsed;
  if (!workflow) await checkDraft(draft);
  else await freshNodes(node === undefined ? workflow : oneNodeWorkflow(workflow, node), draft);
  return workflow && node === undefined ? { ...draft, called: await readCalled(path, workflow) } : draft;
}

/** Reads the initial context and its files. Throws `InvalidInput`. */
export async function readInputs(options: InputOptions): Promise<Pick<RunRequest, "context" | "files">> {
  const [written, named] = await Promise.all([readContext(options.context, options.set), readFiles(options.file)]);
  const { context, files } = await placeContextFiles(written, options.context ?? ".");
  return { context, files: [...named, ...files] };
}

/**
 * Checks the workflow completely, and adds the result to the draft. `more` contains further warnings. Throws
 * `InvalidWorkflow` with all findings.
 */
export async function checkDraft(
  { parsed, called: read, node, fresh: wanted, ...draft }: RunDraft,
  more: readonly Finding[] = [],
): Promise<RunRequest> {
  const { compileParsed, toStateMachine } = await import("@nova/compiler");
  const compiled = await compileParsed(parsed);
  const findings = [...compiled.findings, ...more, ...(await findUnpriced(parsed))];
  if (!compiled.workflow) throw new InvalidWorkflow(draft.path, findings);
  const called = await compileCalled(read);
  const { definition, history } = compiled;
  const alone = node === undefined ? undefined : oneNodeWorkflow(compiled.workflow, node);
  const workflow = alone ?? compiled.workflow;
  const fresh = await freshNodes(workflow, { fresh: wanted, frozen: draft.frozen });
  const machine = alone ? { definition: JSON.stringify(toStateMachine(alone)) } : { definition, history };
  const warnings = [...findings, ...called.warnings];
  return { ...draft, ...machine, workflow, called, isOneNode: alone !== undefined, fresh, warnings };
}

/** Returns whether `NOVA_FROZEN` is set, as it is in a deployment. */
function isFrozenHere({ NOVA_FROZEN: text = "" }: NodeJS.ProcessEnv): boolean {
  return ["1", "true", "yes", "on"].includes(text.toLowerCase());
}

type FreshOption = string[] | true;

/**
 * Returns the ids of the nodes whose code a model must write again. Throws `InvalidInput` if a model cannot write code
 * for one of these nodes.
 */
export async function freshNodes(
  workflow: Workflow,
  { fresh, frozen }: { fresh: FreshOption; frozen: boolean },
): Promise<string[]> {
  if (fresh !== true && fresh.length === 0) return [];
  const ids = fresh === true ? promptNodes(workflow) : fresh;
  if (ids.length === 0)
    throw new InvalidInput("no node has a prompt, so none can be written again - leave out --fresh");
  const problem = freshProblem(workflow, { fresh: ids, frozen });
  if (problem !== null) throw new InvalidInput(problem);
  return ids;
}

/**
 * The workflows that a workflow calls, directly or indirectly, and whose folders are next to the folder of the caller.
 */
export interface Called {
  workflows: Extract<Compiled, { workflow: Workflow }>[];
  places: { id: string; place: string }[];
  calls: Call[];
  warnings: Finding[];
}

export interface ReadCalled extends Pick<Called, "places" | "calls"> {
  parsed: ParsedWorkflow[];
}

export const nothingCalled: ReadCalled = { parsed: [], places: [], calls: [] };

/** Reads the called workflows from folders next to `path`. Throws `InvalidWorkflow`, `InvalidInput`. */
export async function readCalled(path: string, workflow: Workflow): Promise<ReadCalled> {
  const { callsOf } = await import("@nova/service/calls");
  const called: ReadCalled = { parsed: [], places: [], calls: callsOf(workflow) };
  // Called workflows are next to the workflow's folder, or next to a single workflow file.
  const full = resolve(path);
  const beside = isFileOfFolder(full) ? dirname(dirname(full)) : dirname(full);
  const holdsWorkflow = (place: string) => isWorkflowFolder(place) || (/\.(json|ts)$/.test(place) && existsSync(place));
  const seen = new Set([workflow.id]);
  for (const { workflow: id } of called.calls) {
    const place = seen.has(id)
      ? undefined
      : [id, `${id}.json`, `${id}.ts`].map((name) => join(beside, name)).find(holdsWorkflow);
    seen.add(id);
    if (place === undefined) continue;
    // The user did not name this folder. A link out of the parent folder is refused, because it would publish a folder
    // that the user did not mean.
    const sentence = ({ message }: Error) => `"${beside}": ${message}, or publish it first`;
    await demandLeadsInside(beside, basename(place)).catch(throwInvalid(sentence));
    const parsed = await readAndParse(place);
    if (!parsed.workflow) throw new InvalidWorkflow(place, parsed.findings);
    if (parsed.workflow.id !== id) {
      const advice = `use that id in the node, or give the workflow the id "${id}"`;
      throw new InvalidInput(`"${place}" has the workflow "${parsed.workflow.id}", not "${id}" - ${advice}`);
    }
    called.parsed.push(parsed);
    called.places.push({ id, place });
    called.calls.push(...callsOf(parsed.workflow));
  }
  return called;
}

/** Compiles the called workflows. Throws `InvalidWorkflow`. */
export async function compileCalled({ parsed, places, calls }: ReadCalled): Promise<Called> {
  const { compileParsed } = await import("@nova/compiler");
  const called: Called = { workflows: [], places, calls, warnings: [] };
  for (const [i, one] of parsed.entries()) {
    const compiled = await compileParsed(one);
    if (!compiled.workflow) throw new InvalidWorkflow(places[i]?.place ?? "", compiled.findings);
    called.workflows.push(compiled);
    called.warnings.push(...compiled.findings);
  }
  return called;
}
