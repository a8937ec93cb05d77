import { AuthoredEdge } from "../authored/fields.ts";
import type { NodeKind } from "../authored/kind.ts";
import { defined } from "../defined.ts";
import { at, type Finding } from "../findings/finding.ts";
import { isObject } from "../json/exact.ts";
import type { Body, Condition, Edge, Node, NodeType, Workflow } from "../workflow.ts";
import { findingsOf } from "./issues.ts";

/**
 * A workflow as its author writes it: the JSON and the files beside it. Paths are relative to the JSON's folder and use
 * `/`.
 */
export interface WorkflowSource {
  text: string;
  fileName: string;
  /** The source of the program that made `text`. If present, findings name its lines. */
  program?: string;
  /**
   * Name of the folder, or of a single JSON file without `.json`. It is the workflow's id if the definition has no `id`
   * and no `name`.
   */
  folder?: string;
  /** The `.py`, `.txt` and `.md` files, including those in `lib/`, the lock file and the locked code. */
  files: Record<string, string>;
  /** True for a definition from the API: its requirements may name no local file. */
  isSent?: true;
  part?: PartOfDraft;
  /** True if no model may be asked here (`NOVA_MODELS=off`). */
  modelsOff?: true;
}

/** The Python code of a node or a module, for the checks of @nova/python. */
export interface PythonSource {
  node?: { id: string; type: NodeType };
  code: string;
  /** File with the code; absent if the code is in the JSON, at `path`. */
  file?: string;
  path: string;
}

/** A node as far as it could be read. Even if its fields are wrong, NOVA can check which edges lead to and from it. */
export interface ReadNode {
  path: string;
  id?: string;
  kind?: NodeKind;
  onError?: string;
  node?: Node;
  python?: PythonSource;
  body?: ReadBody;
  findings: Finding[];
}

/** An edge as far as it could be read. Its fields may be missing or wrong. */
export interface ReadEdge {
  path: string;
  from?: string;
  to?: string;
  condition?: Condition;
  /** True for an edge with a `max`, which leads back. Checks of cycles, branches and joins ignore such an edge. */
  repeats: boolean;
  edge?: Edge;
  findings: Finding[];
}

export interface ReadBody {
  path: string;
  isWhole: boolean;
  nodes: ReadNode[];
  edges: ReadEdge[];
}

/**
 * Reads each node and each edge separately. If `nodes` or `edges` is no list, it counts as empty, and `checkLists`
 * reports it.
 */
export function readBody(
  lists: { nodes?: unknown; edges?: unknown },
  paths: { nodes: string; edges: string },
  readNode: (value: unknown, path: string) => ReadNode,
): ReadBody {
  return {
    path: paths.nodes,
    isWhole: Array.isArray(lists.nodes) && Array.isArray(lists.edges),
    nodes: listOf(lists.nodes).map((node, index) => readNode(node, at(paths.nodes, index))),
    edges: listOf(lists.edges).map((edge, index) => readEdge(edge, at(paths.edges, index))),
  };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the nodes and edges that could be read completely: all of them, if there is no finding. */
export function bodyOf({ nodes, edges }: ReadBody): Body {
  return { nodes: nodes.flatMap((read) => read.node ?? []), edges: edges.flatMap((read) => read.edge ?? []) };
}

/** Yields every node. The nodes in the body of a map directly follow the map. */
export function* nodesIn({ nodes }: ReadBody): Iterable<ReadNode> {
  for (const node of nodes) {
    yield node;
    if (node.body) yield* nodesIn(node.body);
  }
}

export function* findingsIn({ nodes, edges }: ReadBody): Iterable<Finding> {
  for (const { findings, body } of nodes) {
    yield* findings;
    if (body) yield* findingsIn(body);
  }
  for (const { findings } of edges) yield* findings;
}

function readEdge(value: unknown, path: string): ReadEdge {
  const loose = isObject(value) ? value : {};
  const repeats = loose.max !== undefined;
  const parsed = AuthoredEdge.safeParse(value);
  if (parsed.success) {
    const edge = defined(parsed.data);
    return { path, ...edge, repeats, edge, findings: [] };
  }
  const ends = defined({ from: textIn(loose.from), to: textIn(loose.to) });
  const subject = { name: edgeName(loose), value, path, schema: AuthoredEdge, codes: {} };
  return { path, ...ends, repeats, findings: findingsOf(parsed.error.issues, subject) };
}

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function edgeName({ from, to }: { from?: unknown; to?: unknown }): string {
  return `the edge from ${named(from)} to ${named(to)}`;
}

function named(id: unknown): string {
  return typeof id === "string" ? `"${id}"` : "nowhere";
}

/** The part of a draft that is to run next. The nodes before the part have run already. */
export interface PartOfDraft {
  start: { id: string; merge?: Node["merge"] };
  /** Ids of the part's nodes, without its start and ends. */
  steps: string[];
  edges: Edge[];
  passed: string[];
  /** Ids of those maps among the steps whose outcome is already recorded. */
  recordedMaps: string[];
}

/**
 * Builds a workflow of the part alone. References in it may still name nodes before the part, which are in
 * `draftPrefix`.
 */
export function partOf(whole: Workflow, { start, steps, edges, passed, recordedMaps }: PartOfDraft): Workflow {
  const { timeoutSeconds: _, triggers: __, onFailure: ___, warm: ____, ...shared } = whole;
  const own = new Set(steps);
  const [before, recorded] = [new Set(passed), new Set(recordedMaps)];
  const targets = new Set(edges.map(({ to }) => to));
  const isEnd = ({ id, type }: Node) => type === "end" && targets.has(id);
  const given = whole.nodes.filter(({ id }) => before.has(id) || recorded.has(id));
  return {
    ...shared,
    nodes: [
      defined({ id: start.id, type: "start" as const, merge: start.merge }),
      ...whole.nodes
        .filter((node) => own.has(node.id) || isEnd(node))
        .map((node) => (recorded.has(node.id) ? replaceMap(node) : node)),
    ],
    edges,
    ...(given.length > 0 && {
      draftPrefix: { passed, nodes: given.map(withoutWork), edges: whole.edges.filter(({ from }) => before.has(from)) },
    }),
  };
}

/**
 * Replaces a map whose outcome is recorded by an action with the same id, because the map would run its items again.
 */
function replaceMap({ id, merge }: Node): Node {
  const executor = { kind: "code" as const, code: "pass" };
  return defined({ id, type: "action" as const, merge, executor, timeoutSeconds: 60, effects: false });
}

/** Returns a node without its code or prompt. Its names and keys stay, because other nodes may refer to them. */
function withoutWork(node: Node): Node {
  if (node.type === "map") return { ...node, body: { nodes: [], edges: [] } };
  if (!("executor" in node)) return node;
  if (node.type === "agent") return { ...node, body: { nodes: [], edges: [] } };
  const { executor } = node;
  if (executor.kind === "text") return { ...node, executor: { kind: "text", prompt: "", into: executor.into } };
  return { ...node, executor: { kind: "code", code: "" } };
}
