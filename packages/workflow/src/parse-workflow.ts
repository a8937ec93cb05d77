import { onFailureOf } from "./authored/on-failure.ts";
import type { WorkflowFields } from "./authored/workflow.ts";
import { checkExcluded } from "./check/approvers.ts";
import {
  checkAgentEdges,
  checkBodies,
  checkDecisions,
  checkDirections,
  checkIds,
  checkNames,
  checkOnError,
  checkPlainEdges,
  checkPresence,
  checkToolCycles,
  checkWays,
} from "./check/edges.ts";
import { checkInputs, checkLabels, checkModels, checkRequirements, checkSecretPaths } from "./check/fields.ts";
import { checkForks, checkMerges } from "./check/forks.ts";
import { checkKeys } from "./check/keys.ts";
import type { KeyReader } from "./check/keys-before.ts";
import { checkKnownKeys } from "./check/known-keys.ts";
import { checkLoopBranches, checkLoops } from "./check/loops.ts";
import { type Outline, outlinesOf } from "./check/outline.ts";
import { defined } from "./defined.ts";
import type { Finding, FindingCode } from "./findings/finding.ts";
import { nodeIndex } from "./graph/graph.ts";
import { readInputs } from "./inputs/ajv.ts";
import { keepingDigits } from "./json/exact.ts";
import { readLock } from "./lock/lock-of.ts";
import { type Document, locate, readDocument } from "./parse/document.ts";
import { checkLists, identityOf, readFields } from "./parse/fields.ts";
import { libOf, pythonOfLib, sharedSettings } from "./parse/files.ts";
import { readWhole } from "./parse/nodes.ts";
import { bodyOf, findingsIn, nodesIn, type PythonSource, partOf, type WorkflowSource } from "./parse/read.ts";
import { readTriggers } from "./parse/triggers.ts";
import type { Body, Workflow } from "./workflow.ts";

export interface ParsedWorkflow {
  /** The parsed workflow. Absent if a finding is an error. */
  workflow?: Workflow;
  findings: Finding[];
  /**
   * The Python of the nodes and of `lib/`, for the checks of @nova/python. It is complete even if the definition has
   * errors.
   */
  python: PythonSource[];
  /** Checks the keys of the context with a reader of Python. Returns no findings if the definition has errors. */
  keyFindings(reader: KeyReader): Finding[];
}

/** Parses a definition, or reports everything that is wrong with it. It reads no file and runs no code. */
export function parseWorkflow(source: WorkflowSource): ParsedWorkflow {
  const { document, findings } = readDocument(source);
  if (!document) return { findings, python: [], keyFindings: () => [] };
  const paths = { nodes: document.pathOf("nodes"), edges: document.pathOf("edges") };
  const { fields, findings: fieldFindings } = readFields(document);
  const around = { files: source.files, shared: sharedSettings(fields), exactly: document.exactly };
  const body = readWhole(document.body, paths, around);
  const identity = identityOf(document, source);
  const lib = libOf(source.files);
  findings.push(...checkLists(document), ...identity.findings, ...fieldFindings, ...checkInputs(document));
  findings.push(...checkRequirements(document, source));
  const { triggers, findings: triggerFindings } = readTriggers(document);
  findings.push(...triggerFindings, ...findingsIn(body));
  const outlines = outlinesOf(body);
  const isPart = source.part !== undefined;
  findings.push(...checkWhole(outlines, { isPart }), ...checkSecretPaths(outlines, document.body.inputs));
  findings.push(...checkLabels(document), ...checkToolCycles(outlines, identity.id));
  const lock = readLock(source.files, body, fields?.approval);
  findings.push(...lock.findings, ...checkModels(outlines, fields?.models, source, lock.locked));
  // The body of an agent is its tools. Their context has only the arguments of a call, and no keys of earlier nodes.
  const keyed = outlines.filter(({ map }) => map?.node?.type !== "agent");
  const python = [...[...nodesIn(body)].flatMap((node) => node.python ?? []), ...pythonOfLib(lib)];
  const isRight = findings.every(({ severity }) => severity !== "error");
  const parts = () => ({ ...bodyOf(body), ...inputsOf(document) });
  const workflow = fields && isRight ? normalise(identity, fields, lib, parts()) : undefined;
  if (workflow && lock.locked) workflow.lock = lock.locked;
  if (workflow && triggers.length > 0) workflow.triggers = triggers;
  const part = workflow && source.part ? partOf(workflow, source.part) : workflow;
  const place = { ...document, program: source.program, file: source.fileName };
  return {
    ...(part && { workflow: part }),
    findings: locate(findings, place),
    python: source.part && part ? python.filter(({ node }) => !node || nodeIndex(part).has(node.id)) : python,
    keyFindings: (reader) =>
      workflow ? locate([...checkKeys(keyed, reader), ...checkKnownKeys(keyed, workflow, reader)], place) : [],
  };
}

function inputsOf({ body, pathOf, exactly }: Document): Pick<Workflow, "inputs"> {
  if (body.inputs === undefined) return {};
  return { inputs: keepingDigits(JSON.stringify(readInputs(exactly(pathOf("inputs"))))) };
}

function normalise(
  { id, name }: { id: string; name: string },
  fields: WorkflowFields,
  lib: Record<string, string>,
  parts: Body & Pick<Workflow, "inputs">,
): Workflow {
  const { description, requirements = [], model, models, approval, scope, credentials } = fields;
  return defined({
    format: 1 as const,
    id,
    name,
    description,
    requirements,
    lib,
    model,
    models,
    approval,
    scope,
    credentials,
    timeoutSeconds: fields.timeout,
    idleSeconds: fields.idle_seconds,
    warm: fields.warm || undefined,
    maxCostUsd: fields.limits?.max_cost_usd,
    labels: fields.labels,
    onFailure: fields.on_failure && onFailureOf(fields.on_failure),
    ...parts,
  });
}

const checks = [
  checkPresence,
  checkDirections,
  checkBodies,
  checkNames,
  checkPlainEdges,
  checkDecisions,
  checkOnError,
  checkWays,
  checkLoops,
  checkMerges,
  checkAgentEdges,
];

/** Findings after which the joins of branches are unknown, so that branches are not checked. */
const shapeless: ReadonlySet<FindingCode> = new Set([
  ...(["NOVA106", "NOVA113", "NOVA202", "NOVA204", "NOVA205", "NOVA206", "NOVA210", "NOVA211"] as const),
  ...(["NOVA231", "NOVA232", "NOVA233", "NOVA241", "NOVA244", "NOVA301", "NOVA455"] as const),
]);

/**
 * Checks the graphs of a definition. In a part of a draft, only the branches in the bodies of maps are checked, because
 * the nodes before the part ran in any order.
 */
export function checkWhole(outlines: readonly Outline[], { isPart }: { isPart: boolean }): Finding[] {
  const each = outlines.flatMap((outline) => checkOne(outline, isPart));
  return [...checkIds(outlines), ...each, ...(isPart ? [] : checkExcluded(outlines))];
}

function checkOne(outline: Outline, isPart: boolean): Finding[] {
  const findings = checks.flatMap((check) => [...check(outline)]);
  if (isPart && outline.map === undefined) return findings;
  const read = [...outline.nodes, ...outline.edges].flatMap((one) => one.findings);
  if ([...findings, ...read].some(({ code }) => shapeless.has(code))) return findings;
  return [...findings, ...checkForks(outline), ...checkLoopBranches(outline)];
}
