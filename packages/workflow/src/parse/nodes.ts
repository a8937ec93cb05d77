import { z } from "zod";
import { nodeFields } from "../authored/fields.ts";
import type { BodyKind, NodeKind } from "../authored/kind.ts";
import { kindNames, kindOf } from "../authored/kinds.ts";
import { defined } from "../defined.ts";
import { at, type Finding, finding, formatValue, unknownType, type WrittenPlace } from "../findings/finding.ts";
import { isObject, type Loose } from "../json/exact.ts";
import { type NodeScope, readExecutor, type Surroundings } from "./files.ts";
import { findingsOf } from "./issues.ts";
import { bodyOf, type ReadBody, type ReadNode, readBody, textIn } from "./read.ts";
import { gatherTools } from "./tools.ts";

const codes = {
  id: "NOVA110",
  executor: "NOVA403",
  timeout: "NOVA406",
  code: "NOVA401",
  codeFile: "NOVA401",
  prompt: "NOVA401",
  promptFile: "NOVA401",
  network: "NOVA422",
  credentials: "NOVA423",
} as const;

export function readNode(written: unknown, path: string, around: Surroundings): ReadNode {
  if (!isObject(written)) {
    const message = `a node must be an object such as { "id": "read", "type": "action", "codeFile": "read.py" }, not ${formatValue(written)}`;
    return { path, findings: [finding("NOVA104", path, message)] };
  }
  const value = withoutNullModel(written);
  const name = typeof value.id === "string" ? `node "${value.id}"` : `the node at ${path}`;
  const kind = kindOf(value.type);
  const outline = defined({ path, id: textIn(value.id) || undefined, kind, onError: textIn(value.onError) });
  const read = kind
    ? readAs(kind, value, { name, path, ...around })
    : { findings: [...checkId(value, name, path), unknownKind(value, { name, path })] };
  return { ...outline, ...read };
}

/** Removes `"model": null` and null settings of a model, because null counts as absent there. */
export function withoutNullModel(fields: Loose): Loose {
  const { model, llm_config, ...others } = fields;
  const filled = Object.entries({ model, llm_config }).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    const settings = isObject(value) && Object.entries(value).filter(([, setting]) => setting !== null);
    return [[name, settings ? Object.fromEntries(settings) : value]];
  });
  return { ...others, ...Object.fromEntries(filled) };
}

type Fields = Pick<ReadNode, "node" | "python" | "body" | "findings">;

function readAs(kind: NodeKind, value: Loose, scope: NodeScope): Fields {
  const { name, path } = scope;
  const parsed = kind.schema.safeParse(value);
  const own = {
    schema: kind.schema,
    codes: { ...codes, ...kind.codes },
    refused: kind.noRetry === undefined ? {} : { retry: kind.noRetry },
  };
  const subject = { name, value, path, ...own };
  const findings = parsed.success ? [] : findingsOf(parsed.error.issues, subject);
  findings.push(...(kind.check?.(value, scope) ?? []));
  const exactly = (...steps: string[]) => scope.exactly(at(path, ...steps));
  if (kind.holds === "nothing")
    return { ...(parsed.success && { node: kind.normalise(parsed.data, exactly) }), findings };
  if (kind.holds === "nodes") return { ...readBodyOf(kind, parsed.data, value, scope), findings };
  const { source, python, findings: more } = readExecutor(value, kind.type, scope);
  const complete = parsed.success && source !== undefined;
  return {
    ...(complete && { node: kind.normalise(parsed.data, source, exactly) }),
    ...(python && { python }),
    findings: [...findings, ...more],
  };
}

/** Reads a body, and moves the tools of its agents into the agents. */
export function readWhole(
  lists: { nodes?: unknown; edges?: unknown },
  paths: { nodes: string; edges: string },
  around: Surroundings,
): ReadBody {
  const read = (node: unknown, path: string) => readNode(node, path, around);
  return gatherTools(readBody(lists, paths, read), Array.isArray(lists.nodes) ? lists.nodes : [], read);
}

function readBodyOf(kind: BodyKind, parsed: Loose | undefined, value: Loose, scope: NodeScope) {
  if (value.workflow !== undefined) return readChildBody(kind, parsed, scope);
  const { path, files, shared, exactly } = scope;
  const places = { nodes: at(path, "nodes"), edges: at(path, "edges") };
  const body = readWhole(value, places, { files, shared, exactly });
  return { body, ...(parsed && { node: kind.normalise(parsed as never, bodyOf(body)) }) };
}

/** Builds the body of a map that runs a workflow: one workflow node, from the map's own fields. */
function readChildBody(kind: BodyKind, parsed: Loose | undefined, { path, shared, exactly }: NodeScope) {
  if (!parsed) return {};
  const { id, as, workflow, version, input, output } = parsed;
  const given = { [String(as)]: as, index: "index", ...(isObject(input) ? input : {}) };
  const item = { id: `${id}_item`, type: "workflow", workflow, version, input: given, output };
  const body = readBody({ nodes: [item], edges: [] }, { nodes: path, edges: path }, () =>
    readNode(item, path, { files: {}, shared, exactly }),
  );
  return { body, node: kind.normalise(parsed as never, bodyOf(body)) };
}

/** Checks only the id of a node, because its type is unknown. */
function checkId(value: Loose, name: string, path: string): Finding[] {
  const { error } = OnlyId.safeParse(value);
  return findingsOf(error?.issues ?? [], { name, value, path, schema: OnlyId, codes });
}

const OnlyId = z.object({ id: nodeFields.id });

const branches = " - branches need no node: let several edges without a condition leave the node before";

function unknownKind({ type }: Loose, place: WrittenPlace): Finding {
  const isParallel = typeof type === "string" && /^parallel(node)?$/i.test(type);
  return unknownType("NOVA113", type, kindNames, place, isParallel ? branches : undefined);
}
