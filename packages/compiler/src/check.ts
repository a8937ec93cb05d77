import {
  type CodeFinding,
  type CodeKeys,
  checkNodeCode,
  checkPython,
  createModuleFinder,
  findAssignedKeys,
  findNearKey,
  findReboundContext,
  nodeGlobals,
  type PythonProblem,
  readCodeKeys,
  setsBranchDecision,
  shapeOf,
  type ValueShape,
} from "@nova/python";
import {
  defined,
  type Edge,
  type Finding,
  type FindingCode,
  finding,
  membersOf,
  nodeIndex,
  type ParsedWorkflow,
  type PythonSource,
  reservedKey,
  templatePackages,
  type Workflow,
} from "@nova/workflow";
import { countEvents, historyLimit, stretchEvents } from "./events/count-events.ts";
import { needsContinuation } from "./events/history-budget.ts";
import { lower, type Plan } from "./lower.ts";

const codes = { size: "NOVA607", syntax: "NOVA601", name: "NOVA602", rebound: "NOVA604" } as const;

/** Reports mistakes in the Python code of a workflow (NOVA601 to NOVA607, and NOVA502), without running the code. */
export async function checkSources(sources: readonly PythonSource[]): Promise<Finding[]> {
  const modules = Object.fromEntries(sources.filter((one) => !one.node).map((one) => [one.file ?? one.path, one.code]));
  return (await Promise.all(sources.map((one) => checkSource(one, modules)))).flat();
}

async function checkSource(source: PythonSource, modules: Record<string, string>): Promise<Finding[]> {
  const { node, code, file, path } = source;
  const problems = await checkPython(code, namesFor(node));
  const found = problems.map((problem) => findingOf(problem, source));
  if (node && !problems.some(({ kind }) => kind === "size" || kind === "syntax")) {
    const rebound = findReboundContext(code);
    if (rebound) found.push(findingOf(rebound, source));
    found.push(...reservedKeys(source));
  }
  if (node?.type === "decision" && problems.length === 0 && !setsBranchDecision(code, modules)) {
    const message = `${subjectOf(source)} never decides - set context["branch_decision"] to the condition of an edge`;
    found.push(finding("NOVA603", path, message, defined({ file })));
  }
  return found;
}

function namesFor(node: PythonSource["node"]): readonly string[] {
  if (!node) return [];
  return node.type === "agent" ? [...nodeGlobals, "tools"] : nodeGlobals;
}

/** Reports code that sets reserved keys. docs/definition.md describes each key. */
function reservedKeys(source: PythonSource): Finding[] {
  const { node, code } = source;
  const keys = findAssignedKeys(code, reservedKey).filter(
    ({ key }) => key !== "branch_decision" || node?.type !== "decision",
  );
  return keys.map(({ key, ...place }) => {
    const message = `the key "${key}" is reserved for NOVA - use another one`;
    return foundAt(source, key.startsWith("$") ? "NOVA502" : "NOVA606", message, place);
  });
}

function foundAt(source: PythonSource, code: FindingCode, message: string, place: { line: number; column: number }) {
  const { path, file } = source;
  const where = code === codes.size ? "" : `line ${place.line}: `;
  const sentence = `${subjectOf(source)}: ${where}${message}`;
  return finding(code, path, sentence, { ...place, ...defined({ file }) });
}

function findingOf({ kind, message, ...place }: PythonProblem, source: PythonSource): Finding {
  return foundAt(source, codes[kind], message, place);
}

function subjectOf({ node, file }: PythonSource): string {
  return node ? `node "${node.id}"` : `module "${file}"`;
}

/** Reports NOVA608: imports of modules that are not in the requirements, in `lib/` or in Python itself. */
export function checkImports({ requirements, lib }: Workflow, sources: readonly PythonSource[]): Finding[] {
  const foreignIn = createModuleFinder({ requirements: [...templatePackages, ...requirements], lib });
  return sources.flatMap((source) =>
    foreignIn(source.code).map(({ module, wayOut, ...place }) =>
      foundAt(source, "NOVA608", `nothing provides the module "${module}" - ${wayOut}`, place),
    ),
  );
}

/**
 * The largest number of characters of code that this check analyses for one workflow. The analysis takes a few
 * milliseconds per KB.
 */
const maxCharacters = 60_000;

/** Reports NOVA508: keys that no earlier node sets. */
export function checkKnownKeys({ workflow, keyFindings }: ParsedWorkflow): Finding[] {
  // A module of `lib/` that prints a result may set any key, so this check then reports no missing key.
  if (Object.values(workflow?.lib ?? {}).some((source) => /dump|__main__|inspect/.test(source))) return [];
  let left = maxCharacters;
  const read = new Map<string, CodeKeys | null>();
  const keysOf = (code: string) => {
    const known = read.get(code);
    if (known !== undefined) return known;
    left -= code.length;
    const found = left < 0 ? null : readCodeKeys(code);
    read.set(code, found);
    return found;
  };
  return keyFindings({ readCodeKeys: keysOf, findNearKey });
}

/** The largest size of a state machine's definition (AWS Step Functions, quotas). */
export const definitionLimitBytes = 1_048_576;

/**
 * Reports NOVA701 if the definition exceeds the limit of Step Functions. `nodes` is the number of nodes of the
 * workflow.
 */
export function checkSize(definition: string, nodes: number): Finding[] {
  const bytes = Buffer.byteLength(definition);
  if (bytes <= definitionLimitBytes) return [];
  const fitting = Math.floor(definitionLimitBytes / (bytes / nodes));
  const size = `the state machine of ${nodes} nodes has ${bytes.toLocaleString("en")} bytes`;
  const limit = `Step Functions takes ${definitionLimitBytes.toLocaleString("en")}`;
  const message = `${size}, ${limit} - about ${fitting} nodes like these fit; divide the workflow, or shorten descriptions`;
  return [finding("NOVA701", "$.nodes", message)];
}

/** The largest number of loop edges that `checkEvents` tries when it searches the loop with the most events. */
const maxLooked = 20;

/**
 * Reports workflows whose runs may exceed the history of one Step Functions execution (NOVA702). In such a workflow,
 * some loops cannot continue in a further execution.
 */
export function checkEvents(workflow: Workflow): Finding[] {
  const loops = [...nodeIndex(workflow).values()].flatMap(({ edges }) => edges.filter(({ max }) => max !== undefined));
  if (loops.length === 0) return [];
  const events = maxEventsAtOnce(workflow);
  if (events <= historyLimit) return [];
  const longest = loops
    .toSorted((a, b) => (b.max ?? 0) - (a.max ?? 0))
    .slice(0, maxLooked)
    .map((edge) => ({ edge, events: maxEventsAtOnce(withOneRound(workflow, edge)) }))
    .reduce((a, b) => (b.events < a.events ? b : a));
  const many = (number: number) => number.toLocaleString("en");
  const bound = `a run may make up to ${many(events)} events, and Step Functions ends it at ${many(historyLimit)}`;
  return [finding("NOVA702", "$.edges", `${bound}; ${adviceOn(longest.edge, longest.events < events)}`)];
}

function adviceOn({ from, to, max }: Edge, isLoop: boolean): string {
  if (!isLoop)
    return `one round of the loop from "${from}" to "${to}" is too long - move part of it to another workflow`;
  const loop = `the loop from "${from}" to "${to}", up to ${max} times, makes most of them`;
  return `${loop} - lower its max, or repeat inside of one node's Python`;
}

/** Returns the largest number of events that a run may add to the history of one Step Functions execution. */
function maxEventsAtOnce(workflow: Workflow): number {
  const plan: Plan = lower(workflow);
  return needsContinuation(plan) ? stretchEvents(plan, () => 1) : countEvents(plan, () => 1);
}

/** Returns a copy of a workflow, or of a part of it, in which `edge` has a `max` of 1. */
function withOneRound<Part>(part: Part, edge: Edge): Part {
  if (part === edge) return { ...part, max: 1 };
  if (Array.isArray(part)) return part.map((one) => withOneRound(one, edge)) as Part;
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withOneRound(value, edge)])) as Part;
}

/** The facts about a node that the check of its code needs. */
export interface SentFacts {
  nodeType: "action" | "decision";
  edges?: readonly string[];
  lib: readonly string[];
  /** JSON text of the node's context. Absent: the keys that the code reads are not checked. */
  context?: string;
}

/** Finds mistakes in the code of a node without running the code. `context` is the context that the node gets. */
export async function checkCode(code: string, { context, ...facts }: SentFacts): Promise<CodeFinding[]> {
  if (context === undefined) return checkNodeCode(code, facts);
  const shapes = membersOf(context).map(({ key, json }) => [key, readValueShape(JSON.parse(json))]);
  return checkNodeCode(code, { ...facts, context: Object.fromEntries(shapes) });
}

/**
 * Returns the shape of a value. For a reference to a blob, this is the type in the reference, because the members of
 * the blob are unknown.
 */
function readValueShape(value: unknown): ValueShape {
  const blob = (value as { $blob?: { type?: unknown; bytes?: unknown } } | null)?.$blob;
  if (typeof blob?.bytes !== "number") return shapeOf(value);
  if (blob.type === "bytes") return { type: "bytes", size: blob.bytes };
  return blob.type === "text" ? { type: "string", size: blob.bytes } : { type: "object" };
}
