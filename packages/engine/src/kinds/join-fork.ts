import { joinOf } from "@nova/workflow";
import type { Position } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { type SettleAnswer, settleAnswer } from "../protocol/answer.ts";
import { branchState, findOpenedFork, type OpenFork, readTips } from "../protocol/branches.ts";
import { closeBranches, settlingPorts } from "../protocol/close.ts";
import type { CaughtError, RunPosition } from "../protocol/event.ts";
import { settleJoin } from "../protocol/settle-join.ts";
import { type Reason, reasonOf } from "../protocol/settling.ts";
import { settleLink } from "../protocol/turn.ts";
import { withKinds } from "./table.ts";

/** Input of the task that joins a fork's branches; `at` is the whole state, with an `error` after a Catch. */
export interface JoinEvent {
  /** The fork's node. */
  join: string;
  at: RunPosition & { error?: CaughtError };
}

/** Joins the branches of a fork by what the chain says, not Step Functions. Throws `ExecutionClosed`, `ChainBroken`. */
export async function joinFork(ports: Ports, { join: fork, at: { error, ...run } }: JoinEvent): Promise<SettleAnswer> {
  const entry = await settleLink(ports, { ...run, node: joinOf(fork) }, async (position) => {
    const open = await findOpenedFork(ports, position.beforeEntry);
    if (open?.fork.node === fork) return joinBranches(ports, position, open, error && reasonOf(error));
    throw chainBroken(`link ${run.seq} of ${run.execution.id}${run.scope} is not the fork "${fork}"`);
  });
  return settleAnswer(ports, run, entry);
}

const stopped: Reason = { class: "ExecutionClosed", message: "it was stopped because another branch failed" };

async function joinBranches(
  ports: Ports,
  position: Position,
  open: OpenFork,
  reason: Reason | undefined,
): Promise<StoredEntry> {
  const scopes = open.branches.map(({ scope }) => scope);
  const tips = await readTips(ports, open, scopes);
  const underWay = tips.findIndex((tip) => branchState(open, tip) === "under way");
  if (underWay < 0) return settleJoin(ports, position, open, tips, reason ?? stopped);
  if (!reason) {
    const { name } = open.branches[underWay] as OpenFork["branches"][number];
    throw chainBroken(`branch "${name}" of fork "${open.fork.node}" is joined before it has ended`);
  }
  return settleJoin(ports, position, open, await closeBranches(settlingPorts(withKinds(ports)), open, stopped), reason);
}
