import { defaultLabel, defined, type Workflow, writeWorkflow } from "@nova/workflow";
import type { Draft, DraftEdge, DraftNode } from "../ports/sessions.ts";
import { withEdge, withNode } from "./draft.ts";
import { isDecision } from "./draft-graph.ts";
import { settingsOfTriggers } from "./draft-triggers.ts";
import { demandNode } from "./part.ts";
import { listNodes } from "./scope.ts";

export function draftFromWorkflow(workflow: Workflow): Draft {
  return readWritten(workflow);
}

/** A workflow file whose nodes may be incomplete. */
export interface SentFile {
  id?: string | undefined;
  name?: string | undefined;
  nodes?: readonly DraftNode[] | undefined;
  edges?: readonly DraftEdge[] | undefined;
  [setting: string]: unknown;
}

/** Converts a workflow file to a draft. Throws `Refused`, `Conflict`, `NotFound`. */
export async function draftFromFile(
  { id, name = id ?? "Untitled", nodes = [], edges = [], ...settings }: SentFile,
  files: Readonly<Record<string, string>>,
): Promise<{ draft: Draft; name: string }> {
  const lib = Object.entries(files).filter(([path]) => path.startsWith("lib/"));
  let draft: Draft = { settings, files: Object.fromEntries(lib), nodes: [], edges: [] };
  for (const one of nodes) {
    const node = inlineFiles(one, files);
    await demandNode(draft, node);
    draft = withNode(draft, node);
  }
  for (const edge of edges) draft = withEdge(draft, edge);
  return { draft, name };
}

function readWritten(workflow: Workflow): Draft & Pick<Written, "edges"> {
  const source = writeWorkflow(workflow);
  const { id: _, name: __, nodes, edges, ...others } = JSON.parse(source.text) as Written;
  const settings = { ...others, ...settingsOfTriggers(workflow) };
  const files = Object.entries(source.files).filter(([path]) => path.startsWith("lib/"));
  const inline = nodes.map((node) => inlineFiles(node, source.files));
  return { settings, files: Object.fromEntries(files), nodes: inline, edges };
}

/** Converts some nodes of a workflow to a draft in which they follow each other. The nodes may be in bodies of maps. */
export function draftOfNodes(workflow: Workflow, ids: readonly string[]): Draft {
  const { nodes, ...draft } = readWritten(workflow);
  const all = new Map(listNodes(nodes).map((node) => [node.id, node]));
  const found = ids.flatMap((id) => all.get(id) ?? []);
  const edges = found.slice(1).map((node, index) => {
    const from = found[index] as DraftNode;
    return { from: from.id, to: node.id, ...(isDecision(from) && { condition: defaultLabel }) };
  });
  return { ...draft, nodes: found, edges };
}

interface Written extends Record<string, unknown> {
  nodes: DraftNode[];
  edges: (DraftEdge & { max?: number })[];
}

/** Copies the code and the prompt from their files into the node, where users edit them. */
function inlineFiles({ codeFile, promptFile, ...node }: DraftNode, files: Readonly<Record<string, string>>): DraftNode {
  const inside = Array.isArray(node.nodes) && {
    nodes: (node.nodes as DraftNode[]).map((one) => inlineFiles(one, files)),
  };
  const text = (file: unknown) => (typeof file === "string" ? files[file] : undefined);
  return {
    ...node,
    ...inside,
    ...defined({ code: text(codeFile) ?? node.code, prompt: text(promptFile) ?? node.prompt }),
  } as DraftNode;
}
