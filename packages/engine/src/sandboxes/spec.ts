import { isIPv4 } from "node:net";
import {
  codeInDefinition,
  defaultIdleSeconds,
  isLong,
  longestNodeSeconds,
  longestWaitedSeconds,
  type Node,
  namesLargeModules,
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

/** The seconds that a node may take in addition to the timeout of its code, to transfer values to the code and back. */
export const graceSeconds = 120;

/**
 * The seconds that a new or extended sandbox lives in addition to the time of its node. So a sequence of short nodes
 * rarely has to extend the sandbox.
 */
export const betweenNodesSeconds = 180;

/**
 * The whole time of a prompt node in seconds, for its models and its code in all deliveries. This time must fit into
 * one Lambda.
 */
export const promptBudgetSeconds = longestWaitedSeconds;

/**
 * The seconds by which the sweeper extends the life of a sandbox that a workflow keeps warm. The sweeper runs once a
 * minute, and may be late.
 */
export const keptSeconds = 240;

export function secondsOf({ executor, timeoutSeconds }: TaskNode): number {
  return executor.kind === "prompt" ? promptBudgetSeconds : timeoutSeconds;
}

/**
 * Returns the lifetime, in seconds, of a sandbox for code that may run for `seconds`. A sandbox for long code serves
 * one node, and lives a day at most.
 */
export function lifetimeOf(seconds: number, idle = 0): number {
  return isLong({ timeoutSeconds: seconds })
    ? Math.min(seconds + sandboxMarginSeconds, longestNodeSeconds)
    : seconds + graceSeconds + idle;
}

/** Returns how long the sandbox must still live, in seconds, for code that started `elapsedMs` ago. */
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
    ...(!mayImportLargeModules(workflow) && { light: true }),
    internet: sealed !== true,
    ...(reach && { reach }),
  };
}

export type WantedSandbox = ReturnType<typeof wantedSandbox>;

export function wantedSandbox(
  { at, before }: Pick<Position, "at" | "before">,
  node: TaskNode,
  version: WorkflowVersion,
  seconds = secondsOf(node),
) {
  const spec = sandboxSpec(at, node, version, before);
  return { node, seconds, spec, pool: poolOf(before.client, spec, node, version.workflow) };
}

/**
 * Returns the pool of a sandbox. Runs with the same client, template, modules, packages and network share a pool.
 * Returns undefined if only this run may use the sandbox.
 */
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
 * Returns the hosts to which any code in this sandbox may connect, in the form of E2B: names for ports 80 and 443,
 * addresses and address ranges. The hosts are the same for all nodes that share the sandbox. If each node set its own
 * hosts, a late delivery of an earlier node could set the earlier hosts again. Returns undefined if code may connect to
 * any host, or if a host is known only when the node starts.
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

/**
 * Converts a host to the form of E2B, where a name without a port means ports 80 and 443. Returns undefined if E2B has
 * no form for the host, or if the host is the sandbox itself.
 */
function outerHost(entry: string): string | undefined {
  const [, host = "", port] = /^([^:[\]]+)(?::(\d+))?$/.exec(entry) ?? [];
  const address = host.split("/")[0] ?? "";
  if (isIPv4(address)) return address.startsWith("127.") ? undefined : host;
  const isWeb = port === "80" || port === "443";
  return isWeb && host !== "" && host !== "localhost" ? host : undefined;
}

/** Yields the nodes that run code or ask a model, including those in the bodies of maps and agents. */
export function* tasksOf(nodes: readonly Node[]): Generator<TaskNode> {
  for (const node of nodes) {
    if ("executor" in node) yield node;
    if ("body" in node) yield* tasksOf(node.body.nodes);
  }
}

const importing = new WeakMap<Workflow, boolean>();

/**
 * Whether code of the workflow may import packages of the template or large modules of the standard library. Code that
 * a model has not written yet may import any package or module.
 */
export function mayImportLargeModules(workflow: Workflow): boolean {
  const known = importing.get(workflow);
  if (known !== undefined) return known;
  const executors = Array.from(tasksOf(workflow.nodes), ({ executor }) => executor);
  const may =
    Object.values(workflow.lib).some(namesLargeModules) ||
    executors.some((one) => one.kind === "prompt" || namesLargeModules(codeInDefinition(one)?.code ?? ""));
  importing.set(workflow, may);
  return may;
}
