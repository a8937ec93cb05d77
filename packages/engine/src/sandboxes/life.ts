import { forksOf, type TaskNode } from "@nova/workflow";
import { type Head, headOf } from "../chain/entry.ts";
import { branchOf } from "../chain/ids.ts";
import type { Position } from "../chain/position.ts";
import { NovaError } from "../errors.ts";
import type { EntryId, Link, Turn } from "../ports/chain.ts";
import type { Execution, Offer } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { Sandbox, SandboxPool } from "../ports/sandboxes.ts";
import {
  betweenNodesSeconds,
  keptSeconds,
  lifetimeOf,
  poolOf,
  sandboxSpec,
  secondsOf,
  tasksOf,
  type WantedSandbox,
} from "./spec.ts";

/**
 * The states of a sandbox. In any state, a sandbox dies when its lifetime is over. So before the engine uses a sandbox
 * again, it checks that the sandbox still lives.
 */
export type SandboxState =
  /** Created for an attempt whose turn is not written yet, so the chain does not name the sandbox. */
  | "created"
  /** Taken over from an ended execution, for an attempt whose turn is not written yet. */
  | "inherited"
  /** Used by its scope: a turn names the sandbox, or the last entry of the scope has it in `warm`. */
  | "in use"
  /** Kept by its scope, or by this process, for branches that start later. The scope has another sandbox in use. */
  | "spare"
  /** The execution that used the sandbox has ended. Other executions of its pool may take it. */
  | "idle"
  | "released";

/**
 * Every event in the life of a sandbox, and the state that follows. The engine kills a sandbox that becomes `released`.
 */
export const sandboxLife = {
  created: {
    "turn written": "in use",
    // Another delivery holds the turn, so no code may start in this sandbox.
    "turn lost": "released",
  },
  inherited: { "turn written": "in use", "turn lost": "released" },
  "in use": {
    "turn written": "in use",
    // The chain names this sandbox, so the delivery that has the turn uses it.
    "turn lost": "in use",
    // The node no longer needs the sandbox: the turn names another sandbox or no sandbox, or the entry is written. Code
    // that still runs in the sandbox is stopped.
    "turn left": "released",
    // The sandbox served only this node, which has `isolation: "fresh"` or long code.
    "node ended": "released",
    "branch ended": "spare",
    // A node of the scope waits for a person, an event or a long time, so no code of the scope runs for a while.
    "scope waits": "released",
    "run closed": "idle",
    "not offered": "released",
  },
  spare: {
    "turn written": "in use",
    "turn lost": "spare",
    // The entry of the join does not name this sandbox, so no later node would find it.
    "join left it out": "released",
    "scope waits": "released",
    "run closed": "idle",
    "not offered": "released",
  },
  idle: { "offer taken": "inherited", evicted: "released" },
  released: {},
} as const satisfies Record<SandboxState, Readonly<Record<string, SandboxState>>>;

type Life = typeof sandboxLife;

/** Applies an event to sandboxes, and kills them if their next state is `released`. Returns the next state. */
export async function moveSandboxes<S extends SandboxState, E extends keyof Life[S]>(
  { sandboxes, warmPool }: Pick<Ports, "sandboxes" | "warmPool">,
  state: S,
  event: E,
  ids: readonly string[],
): Promise<Life[S][E]> {
  const next = sandboxLife[state][event];
  if (next !== "released" || ids.length === 0) return next;
  warmPool.forget(ids);
  await Promise.all(ids.map((id) => sandboxes.kill(id)));
  return next;
}

export interface ChosenSandbox {
  sandbox: Sandbox;
  state: "created" | "inherited" | "in use" | "spare";
  /** The spare sandboxes that the scope has from now on. Absent: the same as before. */
  spare?: Sandbox[];
  /** Set if the sandbox was created: when a slot for it was free, in milliseconds since 1970. */
  slotAtMs?: number;
}

/**
 * Chooses the first available sandbox in this order: the warm sandbox of the scope, a spare one, one that an ended
 * execution offers, a new one. Throws `SandboxUnavailable` if E2B gives no sandbox.
 */
export async function chooseSandbox(ports: Ports, position: Position, wanted: WantedSandbox): Promise<ChosenSandbox> {
  const { before, next } = position;
  const { node, seconds } = wanted;
  if (node.isolation !== "fresh") {
    // A turn that waits for its next attempt names the sandbox of the failed attempt, if the next attempt can use this
    // sandbox.
    const warm = next.turn ? next.turn.warm : before.warm;
    const kept = warm && !next.turn?.sandbox ? await extendForNode(ports, warm, node, seconds) : null;
    if (kept) return { sandbox: kept, state: "in use" };
    const spare = await chooseSpare(ports, position, wanted);
    if (spare) return spare;
  }
  return inheritOrCreate(ports, before.client, wanted);
}

/**
 * Chooses a spare sandbox of the scope, or one that another branch of the same fork has left. Returns null for a later
 * attempt. Another delivery may still commit the outcome of an earlier attempt, and then the sandbox of the later
 * attempt is killed. Other branches must not lose a sandbox in this way.
 */
async function chooseSpare(ports: Ports, { before, at, next }: Position, { node, seconds }: WantedSandbox) {
  if (next.turn) return null;
  const { spare = [] } = before;
  for (const [index, one] of spare.entries()) {
    const now = ports.clock.now();
    if (isOver(one, now)) continue;
    // The sandbox may have died since its scope ended. Code starts only in a sandbox that is known to live.
    const isFresh = ports.warmPool.takeFresh(one, now);
    const alive = await (isFresh ? extendForNode(ports, one, node, seconds) : extendForScope(ports, one, seconds));
    if (alive) return { sandbox: alive, state: "spare" as const, spare: spare.slice(index + 1) };
  }
  const left = ports.warmPool.take(at);
  const kept = left && (await extendForNode(ports, left, node, seconds));
  return kept ? { sandbox: kept, state: "spare" as const } : null;
}

/**
 * Takes over a sandbox that an ended execution offers. If there is none, creates a sandbox. If the plan of E2B has no
 * room, this function first kills the oldest idle sandbox.
 */
async function inheritOrCreate(
  ports: Ports,
  client: string,
  { seconds, spec, pool }: WantedSandbox,
): Promise<ChosenSandbox> {
  const inherit = async (): Promise<Sandbox | null> => {
    const idle = pool ? await takeIdle(ports, client, pool) : null;
    const alive = idle && (await extendForScope(ports, idle, seconds));
    if (alive) ports.meter?.("sandbox taken over");
    return alive && { ...alive, ...(pool && { pool }), inherited: true };
  };
  let slotAtMs: number | undefined;
  const noteSlot = () => {
    slotAtMs = ports.clock.now();
  };
  const create = async (): Promise<Sandbox> => {
    const from = ports.clock.now();
    let inherited: Sandbox | null = null;
    const inheritInstead = async () => (inherited = await inherit());
    const sandbox = await ports.sandboxes.create({ ...spec, ...(pool && { pool }) }, inheritInstead, noteSlot);
    if (!inherited) ports.meter?.("sandbox made", { wait_ms: ports.clock.now() - from });
    return sandbox;
  };
  const createInFullPlan = async (error: unknown): Promise<Sandbox> => {
    if (!(error instanceof NovaError && error.name === "SandboxUnavailable")) throw error;
    const inherited = await inherit();
    if (inherited) return inherited;
    if (!(await evictOldest(ports, livingOffers(await ports.executions.idle(), ports.clock.now())))) throw error;
    return create();
  };
  const sandbox = (await inherit()) ?? (await create().catch(createInFullPlan));
  return { sandbox, state: sandbox.inherited ? "inherited" : "created", ...(slotAtMs !== undefined && { slotAtMs }) };
}

/**
 * Returns the sandbox if it still lives for `seconds`. Otherwise extends its life for the whole time of the node.
 * Returns null if the extension fails.
 */
export async function extendForNode(ports: Ports, sandbox: Sandbox, node: TaskNode, seconds = secondsOf(node)) {
  const leftMs = Date.parse(sandbox.endsAt) - ports.clock.now();
  if (leftMs >= lifetimeOf(seconds) * 1000) return sandbox;
  return leftMs <= 0 ? null : extendForScope(ports, sandbox, secondsOf(node));
}

async function extendForScope({ sandboxes }: Ports, sandbox: Sandbox, seconds: number): Promise<Sandbox | null> {
  return sandboxes.extend(sandbox, lifetimeOf(seconds, betweenNodesSeconds));
}

function isOver({ endsAt }: Sandbox, now: number): boolean {
  return Date.parse(endsAt) <= now;
}

/**
 * Returns the sandbox that a turn names. If the sandbox has no pool and the scope did not have it before, only the
 * delivery that chose it knows more than the id of the sandbox. Other deliveries get null.
 */
export function knownSandbox(turn: Turn, warm: Sandbox | null): Sandbox | null {
  if (turn.sandbox === null) return turn.warm ?? null;
  return [turn.warm, warm].find((one) => one?.id === turn.sandbox) ?? null;
}

export function withoutPool<S extends Sandbox | null>(sandbox: S): S {
  return sandbox?.pool ? { ...sandbox, pool: { ...sandbox.pool, idleSeconds: 0 } } : sandbox;
}

/**
 * Releases the sandbox that a delivery chose before it lost the turn. If the stored turn nevertheless names this
 * sandbox, this function does not release it, because the SDK may have repeated a write that had succeeded.
 */
export async function releaseLost(
  ports: Ports,
  at: EntryId,
  { sandbox, state }: { sandbox: string | null; state: ChosenSandbox["state"] },
): Promise<void> {
  if (sandbox === null || sandboxLife[state]["turn lost"] !== "released") return;
  const { turn } = await ports.chain.read(at);
  if (turn?.sandbox !== sandbox) await moveSandboxes(ports, "created", "turn lost", [sandbox]);
}

/**
 * Kills the sandbox that a turn names if the entry names another sandbox. In that case a second delivery started the
 * code again in another sandbox, but the result from the first sandbox was committed. Every delivery that continues
 * from an entry calls this function.
 */
export async function killStaleSandbox(ports: Ports, { entry, turn }: Link): Promise<void> {
  if (!entry || !turn?.sandbox) return;
  if (headOf(entry).sandbox_id !== turn.sandbox) await moveSandboxes(ports, "in use", "turn left", [turn.sandbox]);
}

/**
 * Returns the sandbox that the scope had before this node; null if it was released while the node waited for an
 * attempt.
 */
export function warmBefore({ before, next: { turn } }: Position): Sandbox | null {
  return turn?.released ? null : before.warm;
}

/**
 * Returns the spare sandboxes that the scope had before this node; an empty list if they were released while the node
 * waited.
 */
export function spareBefore({ before, next: { turn } }: Position): Sandbox[] {
  return turn?.released ? [] : (before.spare ?? []);
}

/** Releases the sandboxes of a scope that waits. The next node gets another sandbox. */
export async function releaseSandboxes(ports: Ports, { warm, spare = [] }: Pick<Head, "warm" | "spare">) {
  await moveSandboxes(ports, "in use", "scope waits", warm ? [warm.id] : []);
  await moveSandboxes(
    ports,
    "spare",
    "scope waits",
    spare.map(({ id }) => id),
  );
}

/** The sandboxes that a node has left, and the next node. `sandboxId` is the sandbox in which the code of the node ran. */
interface Left {
  warm: Sandbox | null;
  sandboxId: string | null;
  spare?: Sandbox[];
  next: string | null;
}

/** At the end of a branch, keeps its sandboxes for other branches of the same fork. */
export async function spareForBranches(
  ports: Ports,
  position: Position,
  { warm, sandboxId, spare = spareBefore(position), next }: Left,
): Promise<void> {
  const { at, before } = position;
  const place = branchOf(at.scope);
  const left = warm ? [...spare, warm] : spare;
  if (!place || left.length === 0) return;
  const version = await ports.workflows.get(before.workflow_id, before.workflow_version);
  const fork = version && forksOf(version.workflow).get(place.fork);
  const end = fork?.kind === "parallel" ? fork.next : null;
  if (next !== null && next !== end) return;
  const now = ports.clock.now();
  ports.warmPool.forgetDead(now);
  for (const sandbox of left) ports.warmPool.offer(at, sandbox);
  if (warm && warm.id === sandboxId) ports.warmPool.noteUse(warm, now);
}

/**
 * Lists the living sandboxes of joined branches. If several branches used the same sandbox, the latest end of its
 * lifetime counts.
 */
export function sparesOfBranches({ clock, warmPool }: Ports, tips: readonly { head: Head }[]): Sandbox[] {
  const all = new Map<string, Sandbox>();
  for (const { head } of tips) {
    warmPool.forgetFork({ execution: head.execution_id, scope: head.scope });
    for (const one of [...(head.warm ? [head.warm] : []), ...(head.spare ?? [])]) {
      const other = all.get(one.id) ?? one;
      const endsAt = one.endsAt > other.endsAt ? one.endsAt : other.endsAt;
      // If one branch says that no other execution may use a sandbox, this also holds after the join.
      const isReusable = [one, other].every(({ pool }) => pool && pool.idleSeconds > 0);
      all.set(one.id, { ...(isReusable ? one : withoutPool(one)), endsAt });
    }
  }
  return [...all.values()].filter((one) => !isOver(one, clock.now()));
}

/**
 * Releases inherited spare sandboxes that the join does not name. The close finds sandboxes by the name of this
 * execution, so it cannot find inherited sandboxes. If a kill fails, the sandbox dies when its lifetime is over.
 */
export async function releaseUnnamedSpares(ports: Ports, spares: readonly Sandbox[], join: Head): Promise<void> {
  const named = new Set(join.spare?.map(({ id }) => id));
  const lost = spares.filter(({ id, inherited }) => inherited && !named.has(id));
  await Promise.allSettled(lost.map(({ id }) => moveSandboxes(ports, "spare", "join left it out", [id])));
}

/**
 * Returns the pooled sandboxes that an execution still has at its close. The close finds all other sandboxes by the
 * name of the execution, and kills them.
 */
export function pooledSandboxes({ clock }: Ports, { warm, spare = [] }: Pick<Head, "warm" | "spare">): Sandbox[] {
  return (warm ? [warm, ...spare] : spare).filter((one) => one.pool && !isOver(one, clock.now()));
}

/**
 * Kills the sandboxes of a closed run, except those `named` in its close entry. From the sandboxes that are `left`,
 * chooses those that later runs may inherit, and shortens the lifetime of the chosen ones.
 */
export async function prepareOffers(
  ports: Ports,
  record: Execution,
  named: readonly string[],
  left: readonly Sandbox[],
): Promise<Sandbox[]> {
  await ports.sandboxes.killAll(record.id, new Set(named));
  const chosen = await chooseOffers(ports, record, left);
  const resting = chosen.map(({ inherited: _, ...one }) => ports.sandboxes.rest(one, one.pool?.idleSeconds ?? 0));
  return (await Promise.all(resting)).filter((one) => one !== null);
}

/**
 * Chooses which sandboxes a run offers. A run with branches offers up to twice as many sandboxes as it inherited. So
 * after a few runs, no branch waits for a new sandbox.
 */
async function chooseOffers({ workflows }: Ports, { workflowId, version }: Execution, left: readonly Sandbox[]) {
  const reusable = left.filter(({ pool }) => pool && pool.idleSeconds > 0);
  const inherited = reusable.filter((one) => one.inherited);
  const warm = reusable.length > 1 ? (await workflows.get(workflowId, version))?.workflow.warm : undefined;
  return reusable.slice(0, Math.max(1, 2 * inherited.length, warm ?? 0));
}

/**
 * The largest number of idle sandboxes that one node tries to take over. Many tries may fail, because the other
 * branches of the fork try to take over the same sandboxes.
 */
const maxTries = 8;
/** The largest number of idle sandboxes of one client. If a client has more, NOVA kills the oldest sandbox. */
const maxIdlePerClient = 50;

/**
 * Takes one of the offered sandboxes of a pool, so that no other execution can take it. Returns null if the pool has no
 * offer.
 */
export async function takeIdle(ports: Ports, client: string, { key }: SandboxPool): Promise<Sandbox | null> {
  const offers = livingOffers(await ports.executions.idle(client), ports.clock.now());
  if (offers.length > maxIdlePerClient) await evictOldest(ports, offers);
  const fitting = offers.filter(({ idle }) => idle.pool?.key === key);
  for (let tries = 0; tries < maxTries && fitting.length > 0; tries++) {
    const [offer] = fitting.splice(Math.floor(Math.random() * fitting.length), 1);
    if (offer && (await ports.executions.takeIdle(offer))) return offer.idle;
  }
  return null;
}

async function evictOldest(ports: Ports, offers: readonly Offer[]): Promise<boolean> {
  const [oldest] = offers.toSorted(compareEnds);
  if (!oldest || !(await ports.executions.takeIdle(oldest))) return false;
  await moveSandboxes(ports, "idle", "evicted", [oldest.idle.id]);
  return true;
}

export function livingOffers(offers: readonly Offer[], now: number): Offer[] {
  return offers.filter(({ idle }) => !isOver(idle, now));
}

export function compareEnds(a: Offer, b: Offer): number {
  return a.idle.endsAt.localeCompare(b.idle.endsAt);
}

/**
 * Removes offers of dead sandboxes. Extends as many idle sandboxes as a workflow keeps `warm`. `isActive` says whether
 * a version of a workflow is active. Only an active version keeps sandboxes warm.
 */
export async function sweepIdle(
  ports: Ports,
  isActive: IsActive,
  timeBudget: Pick<AbortSignal, "aborted"> = { aborted: false },
): Promise<void> {
  for (let isMore = true; isMore && !timeBudget.aborted; ) {
    const offers = await ports.executions.idle();
    const living = livingOffers(offers, ports.clock.now());
    for (const [, pool] of Map.groupBy(living, ({ idle }) => idle.pool?.key)) await keepPool(ports, pool, isActive);
    const dead = offers.filter((offer) => !living.includes(offer));
    const taken = await Promise.all(dead.map((offer) => ports.executions.takeIdle(offer)));
    isMore = taken.includes(true);
  }
}

type IsActive = (workflow: string, version: number) => Promise<boolean>;

async function keepPool(ports: Ports, pool: Offer[], isActive: IsActive): Promise<void> {
  for (const [index, offer] of pool.sort(compareEnds).reverse().entries()) {
    const version = await ports.workflows.get(offer.workflowId, offer.version);
    const { warm = 0 } = version?.workflow ?? {};
    if (!version || index >= warm || !(await isActive(offer.workflowId, offer.version))) continue;
    const isFresh = Date.parse(offer.idle.endsAt) - ports.clock.now() > (keptSeconds / 2) * 1000;
    if (!isFresh) await keepOffer(ports, offer, version);
  }
}

async function keepOffer(ports: Ports, offer: Offer, version: WorkflowVersion): Promise<void> {
  const extended = await ports.sandboxes.extend(offer.idle, keptSeconds);
  const kept = extended ?? (await createLike(ports, offer, version));
  // If the offer no longer exists, a run may have taken the sandbox. So this function does not kill the sandbox, which
  // dies when its lifetime is over.
  if (kept) await ports.executions.keepIdle(offer, kept);
}

/** Creates a sandbox of the same pool as the offered sandbox, if a node of the version has that pool. */
async function createLike(ports: Ports, { idle, id, client }: Offer, version: WorkflowVersion) {
  for (const node of tasksOf(version.workflow.nodes)) {
    const spec = sandboxSpec({ execution: id, scope: "" }, node, version);
    const own = poolOf(client, spec, node, version.workflow);
    if (own && own.key === idle.pool?.key)
      return ports.sandboxes.create({ ...spec, lifetimeSeconds: keptSeconds, pool: own });
  }
  return undefined;
}
