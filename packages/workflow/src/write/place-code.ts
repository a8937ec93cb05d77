import { type JsonPosition, scanJson } from "../json/scan.ts";

/** Replaces a part of a text. */
interface Change {
  from: number;
  to: number;
  by: string;
}

/**
 * Adds a node with code to the text of a definition, beside the agent that is its fallback. Edges, `onError` and
 * `input_keys` that name the agent then name the node. Everything else in the text stays as it is. Returns undefined if
 * the text has no such agent.
 */
export function placeCode(
  text: string,
  { id, fallback, codeFile }: { id: string; fallback: string; codeFile: string },
): string | undefined {
  const body = findBody(text, scanJson(text).root, fallback);
  if (!body) return undefined;
  const { agent, nodes, edges } = body;
  const own = agent.fields?.get("onError");
  const onError = own && (JSON.parse(sliceOf(text, own)) as unknown);
  const node = { id, type: "action", codeFile, fallback, ...(onError !== undefined && { onError }) };
  const names = [
    ...nodes.map(({ fields }) => fields?.get("onError")),
    ...edges.flatMap(({ fields }) => [fields?.get("from"), fields?.get("to")]),
    ...withInner(nodes).flatMap(({ fields }) => [...(fields?.get("input_keys")?.fields?.values() ?? [])]),
  ];
  const renamed = names.flatMap((one): Change[] => {
    if (!one || one === own) return [];
    const [name, ...key] = String(JSON.parse(sliceOf(text, one))).split(":");
    return name === fallback ? [{ from: one.offset, to: one.end, by: JSON.stringify([id, ...key].join(":")) }] : [];
  });
  return withChanges(text, [...(own ? [removalOf(text, own)] : []), insertionAfter(text, agent, node), ...renamed]);
}

/** Lists nodes and the nodes in their bodies. */
function withInner(nodes: readonly JsonPosition[]): JsonPosition[] {
  return nodes.flatMap((node) => [node, ...withInner(node.fields?.get("nodes")?.items ?? [])]);
}

interface FoundBody {
  agent: JsonPosition;
  nodes: readonly JsonPosition[];
  edges: readonly JsonPosition[];
}

/** Finds the nodes and edges among which the node with an id is, in the workflow or in the body of a map. */
function findBody(text: string, { fields }: JsonPosition, id: string): FoundBody | undefined {
  const nodes = fields?.get("nodes")?.items ?? [];
  const quoted = JSON.stringify(id);
  const agent = nodes.find((node) => {
    const own = node.fields?.get("id");
    return own !== undefined && sliceOf(text, own) === quoted;
  });
  if (agent) return { agent, nodes, edges: fields?.get("edges")?.items ?? [] };
  for (const node of nodes) {
    const found = findBody(text, node, id);
    if (found) return found;
  }
  return undefined;
}

function sliceOf(text: string, { offset, end }: JsonPosition): string {
  return text.slice(offset, end);
}

/** Removes a field with its name, and with the comma on one side. */
function removalOf(text: string, value: JsonPosition): Change {
  const [name = ""] = /,?\s*"onError"\s*:\s*$/.exec(text.slice(0, value.offset)) ?? [];
  const [comma = ""] = name.startsWith(",") ? [] : (/^\s*,/.exec(text.slice(value.end)) ?? []);
  return { from: value.offset - name.length, to: value.end + comma.length, by: "" };
}

/** Inserts a node after another node, in the same layout. */
function insertionAfter(text: string, other: JsonPosition, node: object): Change {
  const [space = ""] = /\s*$/.exec(text.slice(0, other.offset)) ?? [];
  const indent = space.slice(space.lastIndexOf("\n") + 1);
  const isLong = sliceOf(text, other).includes("\n");
  const written = isLong ? JSON.stringify(node, null, 2).replaceAll("\n", `\n${indent}`) : oneLine(node);
  return { from: other.end, to: other.end, by: `,${space}${written}` };
}

function oneLine(node: object): string {
  const fields = Object.entries(node).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{ ${fields.join(", ")} }`;
}

function withChanges(text: string, changes: readonly Change[]): string {
  let changed = text;
  for (const { from, to, by } of changes.toSorted((a, b) => b.from - a.from))
    changed = changed.slice(0, from) + by + changed.slice(to);
  return changed;
}
