import { createHash } from "node:crypto";
import { oncePerWorkflow, onErrorOf } from "../graph/graph.ts";
import { exactOf, isRawNumber } from "../json/exact.ts";
import type { LockedCode } from "../lock/lock-file.ts";
import { analysisFileOf, codeFileOf, codeFileText, lockFileName, lockText } from "../lock/lock-file.ts";
import type { WorkflowSource } from "../parse/read.ts";
import type { Retry } from "../retry.ts";
import type {
  AgentNode,
  ApprovalNode,
  Body,
  Executor,
  InputKey,
  ModelChoice,
  Node,
  ScheduleTrigger,
  TextExecutor,
  Trigger,
  WaitNode,
  WebhookSignature,
  Workflow,
  WorkflowNode,
} from "../workflow.ts";

/**
 * Writes a workflow as its author would, so that it can be parsed again. Leaves out the triggers and the receivers
 * of failure notices, because a copy must not start runs by itself. `writeTriggers` writes them.
 */
export function writeWorkflow(workflow: Workflow): WorkflowSource {
  const { id, name, description, timeoutSeconds: timeout, inputs, requirements, model, maxCostUsd } = workflow;
  const { models, approval, scope, credentials, lib, lock = {} } = workflow;
  const files: Record<string, string> = {};
  const fields = {
    id,
    name,
    description,
    timeout,
    inputs: inputs && exactOf(inputs),
    models,
    approval,
    scope,
    credentials,
    requirements: requirements.length > 0 ? requirements : undefined,
    model: model && plainChoice(model),
    labels: workflow.labels,
    idle_seconds: workflow.idleSeconds,
    warm: workflow.warm,
    limits: limits(maxCostUsd),
    ...writeBody(workflow, files),
  };
  for (const [path, source] of Object.entries(lib)) files[`lib/${path}`] = source;
  Object.assign(files, lockFiles(lock));
  return { text: `${JSON.stringify(fields, null, 2)}\n`, fileName: "workflow.json", files };
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

type Written = Record<string, unknown>;

/** Writes the code of a compiled agent, and the agent beside it. */
function writeCompiled(node: AgentNode, files: Record<string, string>): Written[] {
  const { id, name, description, merge, onError, executor, ...rest } = node;
  const { compiled, ...asked } = executor;
  if (!compiled) return [writeNode(node, files)];
  const { agent, ...code } = compiled;
  const written = executorFields({ kind: "code", ...code }, files);
  const agentNode: AgentNode = { ...rest, id: agent, executor: asked };
  return [
    { id, type: "action", name, description, ...written, fallback: agent, onError, merge },
    writeNode(agentNode, files),
  ];
}

function writeNode(node: Node, files: Record<string, string>): Written {
  const { id, name, description, merge, inputSchema } = node;
  const type = node.type === "agent" ? "action" : node.type;
  const input_schema = inputSchema && exactOf(inputSchema);
  return { id, type, name, description, ...ownFields(node, files), input_schema, onError: onErrorOf(node), merge };
}

/**
 * Writes the tools of an agent, which the definition has beside the agent. It leaves out a tool that only names a
 * workflow, because the field `tools` contains that tool.
 */
function writeTools({ executor, body }: AgentNode, files: Record<string, string>): Written[] {
  const nodes = new Map(body.nodes.map((node) => [node.id, node]));
  return executor.tools.flatMap(({ name, entry }) => {
    const [node, approval] = [nodes.get(name), nodes.get(entry)];
    if (!node || isPlainWorkflow(node)) return [];
    if (approval?.type !== "approval" || entry === name) return [writeNode(node, files)];
    const { message, timeout, to, approvers, remind, notify } = approvalFields(approval);
    return [{ ...writeNode(node, files), approve: { message, timeout, to, approvers, remind, notify } }];
  });
}

function isPlainWorkflow(node: Node): node is WorkflowNode {
  return node.type === "workflow" && node.inputSchema === undefined;
}

function agentFields({ executor, body, maxConcurrency: max_concurrency }: AgentNode): Written {
  const tools = executor.tools.map(({ name }) => {
    const node = body.nodes.find(({ id }) => id === name);
    return node && isPlainWorkflow(node) ? { workflow: node.workflow, version: node.version } : name;
  });
  return { executor: "agent", tools, max_steps: executor.maxSteps, max_concurrency };
}

function ownFields(node: Node, files: Record<string, string>): Written {
  switch (node.type) {
    case "start":
    case "end":
      return {};
    case "agent": {
      const input_keys = node.inputKeys && writeInputKeys(node.inputKeys);
      const { timeoutSeconds: timeout, retry } = node;
      const asked = { ...textFields(node.executor, files), input_keys, timeout, retry: retry && writeRetry(retry) };
      return { ...asked, ...agentFields(node) };
    }
    case "action":
    case "decision": {
      const { executor, timeoutSeconds: timeout, effects, isolation, credentials } = node;
      const retry = node.retry && writeRetry(node.retry);
      const input_keys = node.inputKeys && writeInputKeys(node.inputKeys);
      if (executor.kind === "text") return { ...textFields(executor, files), input_keys, timeout, retry };
      const network = executor.allow && { allow: executor.allow };
      const own = executorFields(executor, files);
      return { ...own, input_keys, timeout, effects, isolation, credentials, network, retry };
    }
    case "map": {
      const { items, as, into, maxConcurrency: max_concurrency, toleratedFailures } = node;
      const tolerated_failures = toleratedFailures && writeTolerated(toleratedFailures);
      return { items, as, into, max_concurrency, tolerated_failures, ...writeBody(node.body, files) };
    }
    case "approval":
      return approvalFields(node);
    case "wait":
      return waitFields(node.for);
    case "workflow": {
      const { workflow, version, input, output } = node;
      return { workflow, version, input, output };
    }
  }
}

function approvalFields(node: ApprovalNode) {
  const { message, form, forms, choices, timeoutSeconds: timeout, to, approvers, into } = node;
  const { remindSeconds: remind, notify } = node;
  const own = forms && Object.entries(forms).map(([choice, one]) => [choice, exactOf(one)]);
  const written = { form: form && exactOf(form), forms: own && Object.fromEntries(own) };
  return { message, ...written, choices, timeout, to, approvers, remind, notify, into };
}

function writeInputKeys(keys: Record<string, InputKey>): string[] | Record<string, string> {
  const entries = Object.entries(keys);
  if (entries.every(([, { node }]) => node === undefined)) return entries.map(([name]) => name);
  return Object.fromEntries(entries.map(([name, { node, key }]) => [name, [node, key].filter(Boolean).join(":")]));
}

function textFields(executor: TextExecutor, files: Record<string, string>): Written {
  const { kind, prompt, file, system, model, temperature, into, maxCostUsd } = executor;
  const { maxTokens: max_tokens, outputSchema, maxChars: max_chars, onMissing: on_missing } = executor;
  if (file !== undefined) files[file] = prompt;
  const isPlain = temperature === undefined && max_tokens === undefined;
  return {
    executor: kind,
    ...(file === undefined ? { prompt } : { promptFile: file }),
    system,
    ...(isPlain ? { model } : { llm_config: { model, temperature, max_tokens } }),
    output_schema: outputSchema && exactOf(outputSchema),
    into,
    max_chars,
    on_missing,
    limits: limits(maxCostUsd),
  };
}

function executorFields(executor: Exclude<Executor, TextExecutor>, files: Record<string, string>): Written {
  const { kind, file } = executor;
  const text = kind === "code" ? executor.code : executor.prompt;
  if (file !== undefined) files[file] = text;
  const source = file === undefined ? { [kind]: text } : { [`${kind}File`]: file };
  if (kind === "code") return { executor: kind, ...source };
  const { model, samples, maxCostUsd } = executor;
  return { executor: kind, ...source, model: model && plainChoice(model), ai: { samples }, limits: limits(maxCostUsd) };
}

function writeRetry(retry: Retry): Written {
  const { attempts, delaySeconds: delay, backoff, maxDelaySeconds: max_delay, jitter, on } = retry;
  return { attempts, delay, backoff, max_delay, jitter, on };
}

function writeTolerated(failures: { count: number } | { percent: number }): string | number {
  return "percent" in failures ? `${failures.percent}%` : failures.count;
}

function waitFields(waited: WaitNode["for"]): Written {
  if (waited.kind === "seconds") return { seconds: waited.seconds };
  if (waited.kind === "until") return { until: waited.until };
  const { pattern: event, timeoutSeconds: timeout, into, since } = waited;
  return { event, timeout, into, since };
}

function writeBody({ nodes, edges }: Body, files: Record<string, string>): Written {
  const written = nodes.flatMap((node) =>
    node.type === "agent" ? [...writeCompiled(node, files), ...writeTools(node, files)] : [writeNode(node, files)],
  );
  return { nodes: written, edges };
}

function limits(maxCostUsd: number | undefined): Written | undefined {
  return maxCostUsd === undefined ? undefined : { max_cost_usd: maxCostUsd };
}

/** Writes the triggers and the receivers of failure notices as the author of a workflow would. */
export function writeTriggers({ triggers, onFailure }: Pick<Workflow, "triggers" | "onFailure">): Written {
  return {
    ...(triggers && { triggers: triggers.map(writeTrigger) }),
    ...(onFailure && { on_failure: onFailure }),
  };
}

function writeTrigger(trigger: Trigger): Written {
  switch (trigger.type) {
    case "mail":
      return { ...trigger };
    case "imap": {
      const { everySeconds: every, ...same } = trigger;
      return { ...same, every };
    }
    case "webhook": {
      const { waitSeconds: wait, signature, ...same } = trigger;
      return { ...same, wait, signature: signature && writeSignature(signature) };
    }
    case "schedule": {
      const { when, context, ...same } = trigger;
      return { ...same, ...writeTime(when), context: context && exactOf(context) };
    }
    case "event":
      return { ...trigger, pattern: exactOf(trigger.pattern) };
  }
}

function writeSignature({ toleranceSeconds: tolerance, ...same }: WebhookSignature): Written {
  return { ...same, tolerance };
}

function writeTime(when: ScheduleTrigger["when"]): Written {
  if (when.kind === "every") return { every: when.everySeconds };
  return when.kind === "cron" ? { cron: when.cron } : { at: when.at };
}

/**
 * Returns the canonical text of a workflow, with sorted fields. Two workflows with the same text are the same version.
 */
export function workflowText({ model, ...workflow }: Workflow): string {
  return JSON.stringify(sorted({ ...workflow, ...(model && { model: plainChoice(model) }) }));
}

/** Returns a choice of models as authors write it: a single id if it is for every role. */
function plainChoice(model: ModelChoice): ModelChoice | string {
  const { default: everyRole, ...roles } = model;
  return everyRole !== undefined && Object.keys(roles).length === 0 ? everyRole : model;
}

/** Returns the SHA-256 of the canonical text, in hexadecimal digits. */
export function workflowHash(workflow: Workflow): string {
  return createHash("sha256").update(workflowText(workflow)).digest("hex");
}

/**
 * Returns the canonical text of everything that a run depends on. Triggers and failure notices do not count, so an
 * export may leave them out.
 */
export function runText({ triggers: _, onFailure: __, ...ran }: Workflow): string {
  return workflowText(ran);
}

/** Returns the SHA-256 of `runText`. */
export const runHash = oncePerWorkflow((workflow) => createHash("sha256").update(runText(workflow)).digest("hex"));

/**
 * Returns a value with the fields of its objects sorted, so that equal objects have equal texts. The order of lists and
 * the digits of numbers stay.
 */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inside]) => [name, sorted(inside)]));
}
