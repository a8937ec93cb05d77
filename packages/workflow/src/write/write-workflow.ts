import { analysisFileOf, codeFileOf, lockFileName, lockText } from "../lock/lock-file.ts";
import type { LockedCode } from "../lock/locked-code.ts";
import { codeFileText } from "../lock/read-lock.ts";
import type { WorkflowSource } from "../parse/read.ts";
import type { Retry } from "../retry.ts";
import type { Body, Edge, Executor, Node, TaskNode, WaitNode, Workflow } from "../workflow.ts";

/**
 * A workflow as people write it, so that parsing it makes the same one again. Triggers are left out: a copy shall not
 * start runs by itself.
 */
export function writeWorkflow(workflow: Workflow): WorkflowSource {
  const { id, name, description, timeoutSeconds: timeout, inputs, requirements, model, maxCostUsd } = workflow;
  const { approval, scope, credentials, lib, lock = {} } = workflow;
  const files: Record<string, string> = {};
  const fields = {
    ...{ id, name, description, timeout, inputs, approval, scope, credentials },
    requirements: requirements.length > 0 ? requirements : undefined,
    model: model && writeModel(model),
    idle_seconds: workflow.idleSeconds,
    warm: workflow.warm,
    limits: maxCostUsd === undefined ? undefined : { max_cost_usd: maxCostUsd },
    ...writeBody(workflow, files),
  };
  for (const [path, source] of Object.entries(lib)) files[`lib/${path}`] = source;
  Object.assign(files, lockFiles(lock));
  return { text: `${JSON.stringify(withoutAbsent(fields), null, 2)}\n`, fileName: "workflow.json", files };
}

function lockFiles(lock: Record<string, LockedCode>): Record<string, string> {
  const nodes = Object.entries(lock);
  if (nodes.length === 0) return {};
  const code = nodes.flatMap(([node, { code, analysis }]) => [
    [codeFileOf(node), codeFileText(code)],
    ...(analysis === undefined ? [] : [[analysisFileOf(node), codeFileText(analysis)]]),
  ]);
  return { ...Object.fromEntries(code), [lockFileName]: lockText(lock) };
}

/** Fields of a node as people write them. */
export type Written = Record<string, unknown>;

/** A node in the words of a workflow file. Its code goes to `files` where it came from a file. */
function writeNode(node: Node, files: Record<string, string>): Written {
  const { id, type, name, description, merge } = node;
  const onError = "onError" in node ? node.onError : undefined;
  return withoutAbsent({ id, type, name, description, ...ownFields(node, files), onError, merge });
}

function writeEdges(edges: readonly Edge[]): Written[] {
  return edges.map((edge) => ({ ...edge }));
}

function ownFields(node: Node, files: Record<string, string>): Written {
  switch (node.type) {
    case "start":
    case "end":
      return {};
    case "action":
    case "decision":
      return { ...executorFields(node.executor, files), ...taskFields(node) };
    case "map":
      return { ...mapFields(node), ...writeBody(node.body, files) };
    case "approval": {
      const { message, form, forms, choices, timeoutSeconds: timeout, to, into } = node;
      return { message, form, forms, choices, timeout, to, into };
    }
    case "wait":
      return waitFields(node.for);
    case "workflow": {
      const { workflow, version, input, output } = node;
      return { workflow, version, input, output };
    }
  }
}

function executorFields(executor: Executor, files: Record<string, string>): Written {
  const isCode = executor.kind === "code";
  const text = isCode ? executor.code : executor.prompt;
  const { kind, file } = executor;
  if (file !== undefined) files[file] = text;
  const [inline, named] = isCode ? ["code", "codeFile"] : ["prompt", "promptFile"];
  const source = file === undefined ? { [inline as string]: text } : { [named as string]: file };
  return { executor: kind, ...source, ...(executor.kind === "prompt" && promptFields(executor)) };
}

function promptFields({ model, samples, maxCostUsd }: Extract<Executor, { kind: "prompt" }>): Written {
  return {
    model: model && writeModel(model),
    ai: { samples },
    limits: maxCostUsd === undefined ? undefined : { max_cost_usd: maxCostUsd },
  };
}

function taskFields(node: TaskNode): Written {
  const { executor, timeoutSeconds: timeout, effects, retry, isolation, credentials } = node;
  const { allow } = executor as { allow?: string[] };
  return {
    ...{ timeout, effects, isolation, credentials },
    network: allow && { allow },
    retry: retry && writeRetry(retry),
  };
}

function writeRetry({
  attempts,
  delaySeconds: delay,
  backoff,
  maxDelaySeconds: max_delay,
  jitter,
  on,
}: Retry): Written {
  return withoutAbsent({ attempts, delay, backoff, max_delay, jitter, on });
}

function mapFields({ items, as, into, maxConcurrency, toleratedFailures }: Extract<Node, { type: "map" }>): Written {
  const tolerated = toleratedFailures && "percent" in toleratedFailures ? `${toleratedFailures.percent}%` : undefined;
  const count = toleratedFailures && "count" in toleratedFailures ? toleratedFailures.count : undefined;
  return { items, as, into, max_concurrency: maxConcurrency, tolerated_failures: tolerated ?? count };
}

function waitFields(waited: WaitNode["for"]): Written {
  if (waited.kind === "seconds") return { seconds: waited.seconds };
  if (waited.kind === "until") return { until: waited.until };
  return { event: waited.pattern, timeout: waited.timeoutSeconds, into: waited.into };
}

function writeBody({ nodes, edges }: Body, files: Record<string, string>): Written {
  return { nodes: nodes.map((node) => writeNode(node, files)), edges: writeEdges(edges) };
}

/** One id for every role is written as that id. */
function writeModel(model: object): unknown {
  const { default: every, ...byRole } = model as Record<string, string>;
  return every !== undefined && Object.keys(byRole).length === 0 ? every : model;
}

function withoutAbsent(fields: Written): Written {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
