import { onFailureOf } from "./authored/on-failure.ts";
import type { WorkflowFields } from "./authored/workflow.ts";
import { checkInputs, checkLabels, checkRequirements, checkSecretPaths } from "./check/fields.ts";
import { checkKeys } from "./check/keys.ts";
import type { KeyReader } from "./check/keys-before.ts";
import { checkKnownKeys } from "./check/known-keys.ts";
import { checkModels } from "./check/models.ts";
import { outlinesOf } from "./check/outline.ts";
import { checkWhole } from "./check/whole.ts";
import { defined } from "./defined.ts";
import type { Finding } from "./findings/finding.ts";
import { nodeIndex } from "./graph/edges.ts";
import { readInputs } from "./inputs/ajv.ts";
import { keepingDigits } from "./json/exact.ts";
import { readLock } from "./lock/lock-of.ts";
import { bodyOf, findingsIn, nodesIn, readBody } from "./parse/body.ts";
import { type Document, readDocument } from "./parse/document.ts";
import { checkLists, identityOf, readFields } from "./parse/fields.ts";
import { libOf, pythonOfLib, sharedSettings } from "./parse/files.ts";
import { locate } from "./parse/locate.ts";
import { readNode } from "./parse/nodes.ts";
import { partOf } from "./parse/part.ts";
import type { PythonSource, WorkflowSource } from "./parse/read.ts";
import { readTriggers } from "./parse/triggers.ts";
import type { Body, Workflow } from "./workflow.ts";

export interface ParsedWorkflow {
  /** Present if no finding is an error. */
  workflow?: Workflow;
  findings: Finding[];
  /** The Python of the nodes and of `lib/`, for a check of Python. Present with or without errors. */
  python: PythonSource[];
  /** Checks the keys of the context with a reader of Python. Empty without a workflow. */
  keyFindings(reader: KeyReader): Finding[];
}

/**
 * Parses a definition into a workflow, or reports everything that is wrong with it. Pure: it reads no file and runs
 * nothing.
 */
export function parseWorkflow(source: WorkflowSource): ParsedWorkflow {
  const { document, findings } = readDocument(source);
  if (!document) return { findings, python: [], keyFindings: () => [] };
  const paths = { nodes: document.pathOf("nodes"), edges: document.pathOf("edges") };
  const { fields, findings: fieldFindings } = readFields(document);
  const around = { files: source.files, shared: sharedSettings(fields), exactly: document.exactly };
  const body = readBody(document.body, paths, (node, path) => readNode(node, path, around));
  const identity = identityOf(document, source);
  const lib = libOf(source.files);
  findings.push(...checkLists(document), ...identity.findings, ...fieldFindings, ...checkInputs(document));
  findings.push(...checkRequirements(document, source));
  const { triggers, findings: triggerFindings } = readTriggers(document);
  findings.push(...triggerFindings, ...findingsIn(body));
  const outlines = outlinesOf(body);
  const isPart = source.part !== undefined;
  findings.push(...checkWhole(outlines, { isPart }), ...checkSecretPaths(outlines, document.body.inputs));
  findings.push(...checkLabels(document));
  const lock = readLock(source.files, body, fields?.approval);
  findings.push(...lock.findings, ...checkModels(outlines, fields?.models, source, lock.locked));
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
      workflow ? locate([...checkKeys(outlines, reader), ...checkKnownKeys(outlines, workflow, reader)], place) : [],
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
