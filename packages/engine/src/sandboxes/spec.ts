import { isIPv4 } from "node:net";
import {
  defaultIdleSeconds,
  isLong,
  longestNodeSeconds,
  longestWaitedSeconds,
  type Node,
  namesPackages,
  sandboxMarginSeconds,
  type TaskNode,
  type Workflow,
} from "@nova/workflow";
import type { Head } from "../chain/entry.ts";
import type { Position } from "../chain/position.ts";
import type { EntryId } from "../ports/chain.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { SandboxPool, SandboxSpec } from "../ports/sandboxes.ts";
import { sha256 } from "../sha256.ts";

/** Seconds that a node may take beyond the timeout of its code: values travel to the code and back in them. */
export const graceSeconds = 120;

/** A new or extended sandbox lives this much longer than its node may take: a chain of short nodes extends it rarely. */
export const betweenNodesSeconds = 180;

/** The whole budget of a prompt node, for its models and its code in every delivery; it must fit into one Lambda. */
export const promptBudgetSeconds = longestWaitedSeconds;

/** A sandbox that a workflow keeps warm is extended by this; the sweeper looks once a minute, and may be late. */
export const keptSeconds = 240;

export function secondsOf({ executor, timeoutSeconds }: TaskNode): number {
  return executor.kind === "prompt" ? promptBudgetSeconds : timeoutSeconds;
}

/** The lifetime of a sandbox, in seconds. One for long code serves one node, and lives a day at most. */
export function lifetimeOf(seconds: number, idle = 0): number {
  return isLong({ timeoutSeconds: seconds })
    ? Math.min(seconds + sandboxMarginSeconds, longestNodeSeconds)
    : seconds + graceSeconds + idle;
}

/** Seconds that the sandbox must still live for code that started `elapsedMs` ago. */
export function lifetimeLeft(node: TaskNode, elapsedMs: number): number {
  const whole = lifetimeOf(node.timeoutSeconds);
  return isLong(node) ? Math.max(sandboxMarginSeconds, Math.ceil(whole - elapsedMs / 1000)) : whole;
}

export function sandboxSpec(
  { execution, scope }: Pick<EntryId, "execution" | "scope">,
  node: TaskNode,
  { template, workflow }: WorkflowVersion,
  { sealed }: Pick<Head, "sealed"> = {},
): SandboxSpec {
  const reach = outerReach(node, workflow);
  return {
    template,
    execution,
    scope,
    lifetimeSeconds: lifetimeOf(secondsOf(node), betweenNodesSeconds),
    lib: workflow.lib,
    ...(!mayImportPackages(workflow) && { light: true }),
    internet: sealed !== true,
    ...(reach && { reach }),
  };
}

export interface WantedSandbox {
  node: TaskNode;
  seconds: number;
  spec: SandboxSpec;
  pool: SandboxPool | undefined;
}

export function wantedSandbox(
  { at, before }: Pick<Position, "at" | "before">,
  node: TaskNode,
  version: WorkflowVersion,
  seconds = secondsOf(node),
): WantedSandbox {
  const spec = sandboxSpec(at, node, version, before);
  return { node, seconds, spec, pool: poolOf(before.client, spec, node, version.workflow) };
}

/** The pool of the same client, template, modules, packages and network. Undefined: only this run may use it. */
export function poolOf(
  client: string,
  spec: SandboxSpec,
  node: TaskNode,
  { nodes, idleSeconds = defaultIdleSeconds, warm = 0 }: Workflow,
): SandboxPool | undefined {
  const keepsItsOwn = tasksOf(nodes).some(({ isolation }) => isolation === "execution");
  const seconds = warm > 0 ? Math.max(idleSeconds, keptSeconds) : idleSeconds;
  if (seconds === 0 || keepsItsOwn || node.isolation === "fresh" || isLong(node)) return undefined;
  const { template, lib, light = false, internet, reach } = spec;
  const surroundings = [client, template, Object.entries(lib).sort(), light, internet, reach ?? null];
  return { key: sha256(JSON.stringify(surroundings)), idleSeconds: seconds };
}

/**
 * The hosts that any code of this sandbox may connect to, in E2B's words: names for ports 80 and 443, addresses and
 * ranges. The rules never change, because a late delivery of an earlier node could change them back. Undefined where
 * code may connect anywhere, or where a host is known only when the node starts.
 */
export function outerReach(node: TaskNode, workflow: Workflow): string[] | undefined {
  const isShared = ({ isolation }: TaskNode) => isolation !== "fresh";
  const sharing = isShared(node) ? [...tasksOf(workflow.nodes)].filter(isShared) : [node];
  const reach = new Set<string>();
  for (const { executor, credentials = workflow.credentials } of sharing) {
    if (executor.kind === "text") continue;
    if (!executor.allow || credentials === undefined || credentials.length > 0) return undefined;
    for (const entry of executor.allow) {
      const host = outerHost(entry);
      if (host === undefined) return undefined;
      reach.add(host);
    }
  }
  return [...reach].sort();
}

/** A name without a port means ports 80 and 443. The sandbox needs no network to reach itself. */
function outerHost(entry: string): string | undefined {
  const [, host = "", port] = /^([^:[\]]+)(?::(\d+))?$/.exec(entry) ?? [];
  const address = host.split("/")[0] ?? "";
  if (isIPv4(address)) return address.startsWith("127.") ? undefined : host;
  const isWeb = port === "80" || port === "443";
  return isWeb && host !== "" && host !== "localhost" ? host : undefined;
}

/** Nodes that run code or ask a model, including those in the bodies of maps. */
export function* tasksOf(nodes: readonly Node[]): Generator<TaskNode> {
  for (const node of nodes) {
    if (node.type === "action" || node.type === "decision") yield node;
    if (node.type === "map" && "body" in node) yield* tasksOf(node.body.nodes);
  }
}

const importing = new WeakMap<Workflow, boolean>();

/** Whether code of the workflow may import the template's packages. Code that a model has yet to write may import any. */
export function mayImportPackages(workflow: Workflow): boolean {
  const known = importing.get(workflow);
  if (known !== undefined) return known;
  const executors = Array.from(tasksOf(workflow.nodes), ({ executor }) => executor);
  const may =
    Object.values(workflow.lib).some(namesPackages) ||
    executors.some((one) => one.kind === "prompt" || (one.kind === "code" && namesPackages(one.code)));
  importing.set(workflow, may);
  return may;
}
