import { isLong, longestNodeSeconds, longestWaitedSeconds, sandboxMarginSeconds, type TaskNode } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import { NovaError } from "../../errors.ts";
import type { Ports } from "../../ports/index.ts";
import type { Sandbox, SandboxSpec } from "../../ports/sandboxes.ts";
import type { WorkflowVersion } from "../../ports/workflows.ts";
import { endOldestIdle, poolOf, takeIdle } from "./idle-sandboxes.ts";
import { mayImportPackages } from "./imports-packages.ts";
import { outerReach } from "./outer-reach.ts";
import { graceSeconds } from "./time-limit.ts";

/** A new or extended sandbox lives this much longer than its node may take: a chain of short nodes makes no call for each. */
const betweenNodesSeconds = 180;

export interface ChosenSandbox {
  sandbox: Sandbox;
  /** No other link names it: whoever loses the turn kills it. */
  created: boolean;
  /** What the scope has besides from now on; absent: what it had before. */
  spare?: Sandbox[];
}

/** A prompt node's budget, however often its models and its code are asked; a Lambda's time has to do for it. */
export const promptBudgetSeconds = longestWaitedSeconds;

/** How long a node may need its sandbox at most. */
function secondsOf({ executor, timeoutSeconds }: TaskNode): number {
  return executor.kind === "prompt" ? promptBudgetSeconds : timeoutSeconds;
}

/**
 * The scope's warm sandbox where it outlives this node (`seconds`), else a spare one, else one that another execution has
 * left, else a new one. Throws `SandboxUnavailable`.
 */
export async function chooseSandbox(
  ports: Ports,
  { before, at, next }: Position,
  node: TaskNode,
  version: WorkflowVersion,
  seconds = secondsOf(node),
): Promise<ChosenSandbox> {
  // An earlier attempt had the warm one: it has left it to the next one, or as a spare one, or it is of no use.
  const warm = next.turn ? next.turn.warm : before.warm;
  if (node.isolation !== "fresh" && warm && !next.turn?.sandbox) {
    const kept = await keepWarm(ports, warm, node, seconds);
    if (kept) return { sandbox: kept, created: false };
  }
  const spare = node.isolation === "fresh" ? null : await takeSpare(ports, { before, at, next }, node, seconds);
  return spare ?? { sandbox: await takeOrCreate(ports, { before, at }, node, version, seconds), created: true };
}

/**
 * One that the scope has besides, or that another branch of its fork has left in this process, whose entry names it. None
 * for a later attempt: where its turn is overtaken by an outcome of the one before, its sandbox is killed.
 */
async function takeSpare(
  ports: Ports,
  { before, at, next }: Pick<Position, "before" | "at" | "next">,
  node: TaskNode,
  seconds: number,
): Promise<ChosenSandbox | null> {
  if (next.turn) return null;
  const { spare = [] } = before;
  for (const [place, one] of spare.entries()) {
    // It may have died since its scope ended, and code begins only in one that is known to live.
    const isOver = Date.parse(one.endsAt) <= ports.clock.now();
    const alive = isOver ? null : await ports.sandboxes.extend(one, lifetimeOf(seconds, betweenNodesSeconds));
    if (alive) return { sandbox: alive, created: false, spare: spare.slice(place + 1) };
  }
  const left = ports.warmPool.take(at);
  const kept = left && (await keepWarm(ports, left, node, seconds));
  return kept ? { sandbox: kept, created: false } : null;
}

/** One that an ended execution has left, else a new one; where the plan has no room for it, idle ones make it. */
async function takeOrCreate(
  ports: Ports,
  { before, at }: Pick<Position, "before" | "at">,
  node: TaskNode,
  version: WorkflowVersion,
  seconds: number,
): Promise<Sandbox> {
  const spec = sandboxSpec(at, node, version, before);
  const pool = poolOf(before.client, spec, node, version.workflow);
  const take = async () => {
    const idle = pool ? await takeIdle(ports, before.client, pool) : null;
    // It may have died meanwhile, and code begins only in one that is known to live.
    const alive = idle && (await ports.sandboxes.extend(idle, lifetimeOf(seconds, betweenNodesSeconds)));
    if (alive) ports.meter?.("sandbox taken over");
    return alive && { ...alive, ...(pool && { pool }), inherited: true as const };
  };
  const create = async () => {
    const from = ports.clock.now();
    let left: Sandbox | null = null;
    const made = await ports.sandboxes.create({ ...spec, ...(pool && { pool }) }, async () => (left = await take()));
    if (!left) ports.meter?.("sandbox made", { wait_ms: ports.clock.now() - from });
    return made;
  };
  const taken = await take();
  if (taken) return taken;
  return create().catch(async (error) => {
    if (!(error instanceof NovaError && error.name === "SandboxUnavailable")) throw error;
    const leftMeanwhile = await take();
    if (leftMeanwhile) return leftMeanwhile;
    if (!(await endOldestIdle(ports))) throw error;
    return create();
  });
}

export function sandboxSpec(
  at: Pick<Position["at"], "execution" | "scope">,
  node: TaskNode,
  version: WorkflowVersion,
  { sealed }: Pick<Position["before"], "sealed"> = {},
): SandboxSpec {
  const reach = outerReach(node, version.workflow);
  return {
    template: version.template,
    execution: at.execution,
    scope: at.scope,
    lifetimeSeconds: lifetimeOf(secondsOf(node), betweenNodesSeconds),
    lib: version.workflow.lib,
    ...(!mayImportPackages(version.workflow) && { light: true }),
    internet: sealed !== true,
    ...(reach && { reach }),
  };
}

/** The sandbox where it lives for these seconds, or can be made to live for all of the node's; else null. */
export async function keepWarm(
  ports: Ports,
  warm: Sandbox,
  node: TaskNode,
  seconds = secondsOf(node),
): Promise<Sandbox | null> {
  const leftMs = Date.parse(warm.endsAt) - ports.clock.now();
  if (leftMs >= lifetimeOf(seconds) * 1000) return warm;
  return leftMs <= 0 ? null : ports.sandboxes.extend(warm, lifetimeOf(secondsOf(node), betweenNodesSeconds));
}

/**
 * A sandbox lives for as long as its node may take. One for long code is made for it alone: no more of a plan's limit is
 * asked for than that needs, and never more than a day.
 */
export function lifetimeOf(seconds: number, idle = 0): number {
  return isLong({ timeoutSeconds: seconds })
    ? Math.min(seconds + sandboxMarginSeconds, longestNodeSeconds)
    : seconds + graceSeconds + idle;
}

/** Seconds that the sandbox of code that began so long ago must still live. */
export function lifetimeLeft(node: TaskNode, elapsedMs: number): number {
  const whole = lifetimeOf(node.timeoutSeconds);
  return isLong(node) ? Math.max(sandboxMarginSeconds, Math.ceil(whole - elapsedMs / 1000)) : whole;
}
