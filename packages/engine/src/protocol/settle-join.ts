import { defined, type Fork, isSameJson, joinOf, objectText } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { type BranchTip, contentText, headOf } from "../chain/entry.ts";
import { contextAfter, failureOf, type LoadedContext, type Position } from "../chain/position.ts";
import { spentSince, sumOfSpendings, unlessNothing } from "../chain/spending.ts";
import {
  blobPages,
  type Changes,
  type Context,
  isWithin,
  linkLabel,
  loadContext,
  loadStored,
  type StoredContext,
} from "../context/context.ts";
import { blobKey, offloadMembers, savingTo, type ValueSource, wholeJson } from "../context/references.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { releaseUnnamedSpares, sparesOfBranches } from "../sandboxes/life.ts";
import {
  branchState,
  failureOfBranches,
  hasBegun,
  nextAfterJoin,
  nodeMessage,
  type OpenFork,
  type Tip,
} from "./branches.ts";
import { commitOutcome } from "./commit.ts";
import { nextNodeId, type Reason } from "./definition.ts";
import { buildSuccess, factsWithoutCode, type Outcome } from "./outcome.ts";
import { visitsOfBranches } from "./recorded.ts";

/**
 * Writes the entry of a join whose branches have ended. Returns the entry of the join, which another delivery may have
 * written.
 */
export async function settleJoin(
  ports: Ports,
  position: Position,
  open: OpenFork,
  tips: readonly Tip[],
  reason: Reason,
): Promise<StoredEntry> {
  const kept = await contextAfter(position.beforeEntry, ports.blobs);
  const failed = await failureOfBranches(ports, open, tips, reason);
  const merged = failed ?? (await joinedChanges(ports, open, tips, kept));
  const isOfAgent = !failed && open.map?.type === "agent";
  const results = isOfAgent ? await resultsText(ports, open, tips, kept.stored) : undefined;
  const spare = sparesOfBranches(ports, tips);
  const facts = factsOf(ports, position, tips, open, spare.slice(0, maxSpare), results);
  const rescue = nextNodeId(open.version, open.map?.onError);
  const outcome: Outcome =
    "failure" in merged
      ? { ...facts, status: "failed", ...merged, next: rescue }
      : { ...buildSuccess(nextAfterJoin(open), facts), changes: merged };
  const entry = await commitOutcome(ports, position, { id: joinOf(open.fork.node), type: "join" }, outcome, kept);
  await releaseUnnamedSpares(ports, spare, headOf(entry));
  return entry;
}

function factsOf(
  ports: Ports,
  { before }: Position,
  tips: readonly Tip[],
  { map }: OpenFork,
  spare: Sandbox[],
  results: string | undefined,
) {
  const started = tips.filter(hasBegun);
  // The spending of a branch includes the spending before its fork. That part must count only once.
  const spent = unlessNothing(sumOfSpendings(started.map(({ head }) => spentSince(before.spent, head.spent))));
  const branches = started.map(
    (tip): BranchTip => ({ scope: tip.head.scope, seq: tip.head.seq, hash: tip.entry.hash }),
  );
  const facts = factsWithoutCode(ports, undefined, before);
  return {
    ...facts,
    run: { ...facts.run, spare },
    more: {
      nodes: started.reduce((sum, tip) => sum + tip.head.nodes, 0),
      inner: started.reduce((sum, tip) => sum + tip.head.seq + (tip.head.inner ?? 0), 0),
      inside: { branches: started.length, events: started.reduce((sum, { head }) => sum + (head.events ?? 0), 0) },
      ...(spent && { spent }),
      // Visits inside items of a map are not merged: each item has places of its own, whose names contain the number of
      // the item.
      ...(before.visits && !map && { visits: visitsOfBranches([before, ...started.map(({ head }) => head)]) }),
      contents: defined({ branches: JSON.stringify(branches), results }),
    },
  };
}

/** The largest number of spare sandboxes after a join. Each later entry names them, at 200 bytes each. */
const maxSpare = 20;

async function joinedChanges(ports: Ports, open: OpenFork, tips: readonly Tip[], kept: LoadedContext) {
  if (open.map?.type === "agent") return { set: [], delete: [] };
  if (open.map) {
    const set = [{ key: open.map.into, json: await resultsText(ports, open, tips, kept.stored) }];
    return { set: await offloadMembers(set, savingTo(ports, open.head)), delete: [] };
  }
  const contexts = await atOnce(tips, async ({ entry }) => (await contextAfter(entry, ports.blobs)).context);
  const branches = open.branches.map((branch, i) => ({ ...branch, context: contexts[i] as LoadedContext["context"] }));
  const whole = await disputedValues(kept.context, branches, { home: open.head, blobs: ports.blobs });
  const changes = mergeBranches(kept.context, branches, open.fork, (json) => whole.get(json) ?? json);
  if ("problem" in changes) return { class: "NodeFailed" as const, failure: { message: changes.problem } };
  if (open.fork.merge !== "collect") return changes;
  // A merge of type `collect` makes new lists, so large parts of these have to be moved to blobs.
  return { ...changes, set: await offloadMembers(changes.set, savingTo(ports, open.head)) };
}

/**
 * Builds the list of results of a map, in the order of the items: the values that each item set, or the error of a
 * tolerated failure.
 */
export async function resultsText(ports: Ports, open: OpenFork, tips: readonly Tip[], before: StoredContext) {
  const shared = new Set(before.pages.map(({ sha256 }) => sha256));
  const results = await atOnce(tips, (tip) =>
    branchState(open, tip) === "failed" ? failedItem(ports, tip) : itemResult(ports, tip, shared),
  );
  return `[${results.join(",")}]`;
}

/**
 * Reads the values that an item set. The context of the item shares pages with the context of the map. This function
 * does not load these pages, because they hold no result of the item.
 */
async function itemResult(ports: Ports, { entry, head }: Tip, shared: ReadonlySet<string>) {
  if (!entry.contents.context) {
    throw chainBroken(`link ${head.seq} of ${head.execution_id}${head.scope} has no context: it was erased`);
  }
  const stored = loadStored(await contentText(entry.contents.context, head, ports.blobs));
  const own = { ...stored, pages: stored.pages.filter(({ sha256 }) => !shared.has(sha256)) };
  const { context } = await loadContext(JSON.stringify(own), blobPages(ports.blobs, head));
  const itemLabel = linkLabel({ scope: head.scope, seq: 0 });
  const isResult = ({ by, key }: ReturnType<Context["slots"]>[number]) =>
    by !== itemLabel && isWithin(by, head.scope) && key !== decisionKey;
  return objectText(context.slots().filter(isResult));
}

async function failedItem(ports: Ports, { entry, head }: Tip): Promise<string> {
  const failure = await failureOf(entry, ports.blobs);
  const error = { node: failure.node ?? head.node_id, class: head.error_class, message: nodeMessage(failure) };
  return JSON.stringify({ error });
}

/** The key of the context that holds the choice of a decision. It is no result of a branch. */
export const decisionKey = "branch_decision";

export interface BranchContext {
  name: string;
  scope: string;
  context: Context;
}

/** The change of one key by one branch; `json` null: the branch deleted the key. */
interface Write {
  branch: string;
  key: string;
  json: string | null;
}

/**
 * The size of the largest value that NOVA loads to compare values by content. Larger values are equal only if their
 * bytes are equal.
 */
const maxCompared = 16 * 1024 * 1024;

/**
 * If branches wrote different texts to the same key, loads the values of these texts from blobs, so that
 * `mergeBranches` can compare them by content.
 */
async function disputedValues(before: Context, branches: readonly BranchContext[], source: ValueSource) {
  const whole = new Map<string, string>();
  for (const writes of writesByKey(before, branches).values()) {
    const texts = new Set(writes.map(({ json }) => json));
    for (const json of texts.size > 1 ? texts : []) {
      if (!json?.includes(`"${blobKey}"`) || whole.has(json)) continue;
      const text = await wholeJson(json, maxCompared, source);
      if (text !== null) whole.set(json, text);
    }
  }
  return whole;
}

function writesByKey(before: Context, branches: readonly BranchContext[]): Map<string, Write[]> {
  return Map.groupBy(
    branches.flatMap((branch) => writesOf(before, branch)),
    ({ key }) => key,
  );
}

/**
 * Merges the changes of the branches. Different changes of one key are a problem, unless the `merge` of the fork allows
 * them. If the values are equal, the text of the last branch counts. `whole` returns the text of a value with its blobs
 * filled in.
 */
export function mergeBranches(
  before: Context,
  branches: readonly BranchContext[],
  { node, merge }: Pick<Fork, "node" | "merge">,
  whole = (json: string) => json,
): Changes | { problem: string } {
  const writes = writesByKey(before, branches);
  const changes: Changes = { set: [], delete: [] };
  for (const [key, all] of writes) {
    const conflict = merge === "unique" ? findDifference(all, whole) : undefined;
    if (conflict) return { problem: conflictText(key, all[0] as Write, conflict, node) };
    const json = merge === "collect" ? collectValues(all) : (all.at(-1)?.json ?? null);
    if (json === null) changes.delete.push(key);
    else changes.set.push({ key, json });
  }
  return changes;
}

function findDifference([first, ...others]: readonly Write[], whole: (json: string) => string): Write | undefined {
  const one = first?.json ?? null;
  return others.find(({ json }) =>
    one === null || json === null ? one !== json : one !== json && !isSameJson(whole(one), whole(json)),
  );
}

function writesOf(before: Context, { context, scope, name: branch }: BranchContext): Write[] {
  const set = context.slots().filter(({ by, key }) => isWithin(by, scope) && key !== decisionKey);
  const deleted = before.slots().filter(({ key }) => !context.slot(key) && key !== decisionKey);
  return [
    ...set.map(({ key, json }) => ({ branch, key, json })),
    ...deleted.map(({ key }) => ({ branch, key, json: null })),
  ];
}

/**
 * Returns the value if only one branch set the key, or the list of all values. Returns null, which deletes the key,
 * only if no branch set a value.
 */
function collectValues(writes: readonly Write[]): string | null {
  const values = writes.flatMap(({ json }) => (json === null ? [] : [json]));
  return values.length > 1 ? `[${values.join(",")}]` : (values[0] ?? null);
}

function conflictText(key: string, one: Write, other: Write, fork: string): string {
  const what = one.json === null || other.json === null ? "one sets it, the other deletes it" : "each to another value";
  return `branches "${one.branch}" and "${other.branch}" both changed context[${JSON.stringify(key)}], ${what} - use two keys, or give node "${fork.replace(/\.join$/, "")}" "merge": "last" or "collect"`;
}
