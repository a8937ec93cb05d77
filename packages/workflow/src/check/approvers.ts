import { starterMark } from "../authored/approvers.ts";
import { at, didYouMean, type Finding, finding } from "../findings/finding.ts";
import { isObject } from "../json/exact.ts";
import { scanJson } from "../json/scan.ts";
import { locate } from "../parse/document.ts";
import type { WorkflowSource } from "../parse/read.ts";
import type { AgentNode, Node, Workflow } from "../workflow.ts";
import type { NamedNode, Outline } from "./outline.ts";

/**
 * Warns of approvals without approvers. The parser does not check this, so that a definition without approvers stays a
 * definition without findings.
 */
export function openApprovals({ nodes }: Pick<Workflow, "nodes">, source: WorkflowSource): Finding[] {
  const text = source.text.replace(/^\uFEFF/, "");
  const paths = new Map(pathsOfNodes(JSON.parse(text), "$"));
  const { program, fileName: file } = source;
  return locate(findOpenAmong(nodes, paths), { scan: scanJson(text), text, program, file });
}

function findOpenAmong(nodes: readonly Node[], paths: ReadonlyMap<unknown, string>, agent?: AgentNode): Finding[] {
  return nodes.flatMap((node) => {
    if ("body" in node) return findOpenAmong(node.body.nodes, paths, node.type === "agent" ? node : undefined);
    if (node.type !== "approval" || node.approvers) return [];
    const tool = agent?.executor.tools.find(({ entry }) => entry === node.id)?.name;
    const path = paths.get(node.id) ?? at(paths.get(tool) ?? "$", "approve");
    const message = `node "${node.id}": any runner key may answer this approval - name the people who may, such as "approvers": {"any": ["cfo@example.com"]}`;
    return [finding("NOVA433", path, message)];
  });
}

/** Lists the path of each node in a definition by its id. The definition lists tools beside their agents. */
function pathsOfNodes(body: unknown, path: string): [id: unknown, path: string][] {
  if (!isObject(body)) return [];
  const inner = pathsOfNodes(body.graph_definition, at(path, "graph_definition"));
  const nodes = Array.isArray(body.nodes) ? body.nodes : [];
  const own = nodes.flatMap((node: unknown, index): [id: unknown, path: string][] => {
    const place = at(path, "nodes", index);
    return isObject(node) ? [[node.id, place], ...pathsOfNodes(node, place)] : [];
  });
  return [...inner, ...own];
}

/** Reports NOVA431: an approval whose `not` names a node that is no approval, or an approval without `approvers`. */
export function* checkExcluded(outlines: readonly Outline[]): Iterable<Finding> {
  const all = outlines.flatMap(({ nodes }) => nodes);
  const approvals = all.filter(({ kind }) => kind?.type === "approval");
  for (const { id, path, node } of approvals) {
    const excluded = node?.type === "approval" ? (node.approvers?.not ?? []) : [];
    for (const [index, other] of excluded.entries()) {
      const problem = other === starterMark ? undefined : problemOf(other, id, all, approvals);
      if (problem === undefined) continue;
      yield finding("NOVA431", at(path, "approvers", "not", index), `node "${id}": not: ${problem}`);
    }
  }
}

function problemOf(other: string, own: string, all: readonly NamedNode[], approvals: readonly NamedNode[]) {
  if (other === own) return `"${other}" is this node itself - name another approval, or "${starterMark}"`;
  const found = all.find(({ id }) => id === other);
  const ids = [starterMark, ...approvals.flatMap(({ id }) => (id === own ? [] : [id]))];
  if (!found) return `there is no node "${other}"${didYouMean(other, ids) || ` - name one of ${ids.join(", ")}`}`;
  if (found.kind?.type !== "approval")
    return `no person answers "${other}", which is no approval - name one of ${ids.join(", ")}`;
  const isProven = found.node?.type !== "approval" || found.node.approvers !== undefined;
  return isProven ? undefined : `NOVA does not prove who answers "${other}" - give it approvers, too`;
}
