import { joinOf } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import type { BranchTip } from "../chain/head.ts";
import { contextAfter, type LoadedContext, type Position, placeInSource } from "../chain/position.ts";
import { spentSince, sumOfSpendings, unlessNothing } from "../chain/spending.ts";
import type { Changes } from "../context/context.ts";
import { offloadMembers, savingTo } from "../context/offload.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { hasBegun, type OpenFork, type Tip, wayBehindJoin } from "./branches.ts";
import { commitOutcome } from "./commit.ts";
import { wayTo } from "./definition.ts";
import { resultsText } from "./item-results.ts";
import { mergeBranches } from "./merge-branches.ts";
import { codeless, type Outcome, type OutcomeFacts, succeeded } from "./outcome.ts";
import type { Reason } from "./settling.ts";
import { failureOfBranches } from "./verdict.ts";

/**
 * Writes the entry of a join whose turn is taken and whose branches have all ended, of themselves or closed: what they
 * changed, or why they failed. Either way it lists their tips. Answers the entry that is there afterwards.
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
  const facts = factsOf(ports, position, tips);
  const outcome: Outcome =
    "failure" in merged
      ? { ...facts, status: "failed", ...merged, next: wayTo(open.version, open.map?.onError) }
      : {
          ...succeeded(wayBehindJoin(open), { ...facts, more: { ...facts.more, ...followedBehind(position, tips) } }),
          changes: merged,
        };
  return commitOutcome(ports, position, { id: joinOf(open.fork.node), type: "join" }, outcome, kept);
}

/** Where the source's branches came to the same, so did its join. */
function followedBehind({ before }: Position, tips: readonly Tip[]) {
  const fork = placeInSource(before);
  const isSame = fork && tips.filter(hasBegun).every(({ head }) => head.followed !== undefined);
  return isSame ? { followed: { scope: fork.scope, seq: fork.seq + 1 } } : {};
}

function factsOf(ports: Ports, { before }: Position, tips: readonly Tip[]): OutcomeFacts {
  const begun = tips.filter(hasBegun);
  // A branch counts on from what its fork says.
  const spent = unlessNothing(sumOfSpendings(begun.map(({ head }) => spentSince(before.spent, head.spent))));
  const branches = begun.map((tip): BranchTip => ({ scope: tip.head.scope, seq: tip.head.seq, hash: tip.entry.hash }));
  return {
    ...codeless(ports, undefined, before.warm),
    more: {
      nodes: begun.reduce((sum, tip) => sum + tip.head.nodes, 0),
      inner: begun.reduce((sum, tip) => sum + tip.head.seq + (tip.head.inner ?? 0), 0),
      inside: { branches: begun.length, events: begun.reduce((sum, { head }) => sum + (head.events ?? 0), 0) },
      ...(spent && { spent }),
      contents: { branches: JSON.stringify(branches) },
    },
  };
}

async function joinedChanges(
  ports: Ports,
  open: OpenFork,
  tips: readonly Tip[],
  kept: LoadedContext,
): Promise<Changes | { class: "NodeFailed"; failure: { message: string } }> {
  if (open.map) {
    const set = [{ key: open.map.into, json: await resultsText(ports, open, tips, kept.stored) }];
    return { set: await offloadMembers(set, savingTo(ports, open.head)), delete: [] };
  }
  const contexts = await atOnce(tips, async ({ entry }) => (await contextAfter(entry, ports.blobs)).context);
  const branches = open.branches.map((branch, i) => ({ ...branch, context: contexts[i] as LoadedContext["context"] }));
  const changes = mergeBranches(kept.context, branches, open.fork);
  if ("problem" in changes) return { class: "NodeFailed", failure: { message: changes.problem } };
  if (open.fork.merge !== "collect") return changes;
  // Lists are new values: their large parts go to blobs as those of any other value.
  return { ...changes, set: await offloadMembers(changes.set, savingTo(ports, open.head)) };
}
