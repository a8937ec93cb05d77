import type { WorkflowFields } from "../authored/workflow.ts";
import { checkInputs } from "../check/inputs.ts";
import { outlineOf } from "../check/outline.ts";
import { checkOverwrites } from "../check/overwrites.ts";
import { checkWhole } from "../check/whole.ts";
import type { Finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import type { JsonObject, Workflow } from "../workflow.ts";
import { readDocument } from "./document.ts";
import { type ReadEdge, readEdge } from "./edges.ts";
import { readFields, readLists } from "./fields.ts";
import { identityOf } from "./identity.ts";
import { libOf, pythonOfLib } from "./lib.ts";
import { locate } from "./locate.ts";
import { type ReadNode, readNode } from "./nodes.ts";
import type { PythonSource, WorkflowSource } from "./source.ts";

export interface ParsedWorkflow {
  /** There if no finding is an error. */
  workflow?: Workflow;
  findings: Finding[];
  /** The Python of the nodes and of `lib/`, for a check of Python; there with or without errors. */
  python: PythonSource[];
}

/** What a person wrote, as a workflow; or all that is wrong with it. Pure: reads no file, runs nothing. */
export function parseWorkflow(source: WorkflowSource): ParsedWorkflow {
  const { document, findings } = readDocument(source);
  if (!document) return { findings, python: [] };
  const lists = readLists(document);
  const nodesPath = document.pathOf("nodes");
  const edgesPath = document.pathOf("edges");
  const nodes = lists.nodes.map((node, index) => readNode(node, at(nodesPath, index), source.files));
  const edges = lists.edges.map((edge, index) => readEdge(edge, at(edgesPath, index)));
  const identity = identityOf(document, source);
  const { fields, findings: fieldFindings } = readFields(document);
  const lib = libOf(source.files);
  findings.push(...lists.findings, ...identity.findings, ...fieldFindings, ...checkInputs(document));
  for (const { findings: own } of [...nodes, ...edges]) findings.push(...own);
  const outline = outlineOf(nodes, edges, nodesPath);
  // Without one of the lists every node would be wrong: nothing that the missing list does not say already.
  if (lists.findings.length === 0) findings.push(...checkWhole(outline));
  const python = [...nodes.flatMap((node) => node.python ?? []), ...pythonOfLib(lib)];
  if (hasNoError(findings)) findings.push(...checkOverwrites(outline));
  const workflow = fields && hasNoError(findings) ? normalise(identity, fields, lib, nodes, edges) : undefined;
  return { ...(workflow && { workflow }), findings: locate(findings, { ...document, file: source.fileName }), python };
}

function hasNoError(findings: readonly Finding[]): boolean {
  return findings.every((one) => one.severity !== "error");
}

function normalise(
  { id, name }: { id: string; name: string },
  { description, timeout, inputs, requirements = [], model }: WorkflowFields,
  lib: Record<string, string>,
  nodes: readonly ReadNode[],
  edges: readonly ReadEdge[],
): Workflow {
  return {
    format: 1,
    id,
    name,
    ...(description !== undefined && { description }),
    ...(timeout !== undefined && { timeoutSeconds: timeout }),
    ...(inputs !== undefined && { inputs: { type: "object", ...inputs } as JsonObject }),
    requirements,
    lib,
    ...(model !== undefined && { model }),
    nodes: nodes.flatMap((read) => read.node ?? []),
    edges: edges.flatMap((read) => read.edge ?? []),
  };
}
