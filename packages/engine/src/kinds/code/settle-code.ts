import type { TaskNode } from "@nova/workflow";
import { sha256 } from "../../json/text.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { HeldNode } from "../../protocol/definition.ts";
import { failed, heldMs, type RunFacts, turnFacts } from "../../protocol/outcome.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { judge } from "../task/judge.ts";
import { stopTurn } from "../task/stopped-turn.ts";

/** The result that the claim kept is committed as the node's own; without one the node has failed. */
export async function settleCode(ports: SettlingPorts, held: HeldNode<TaskNode>, reason: Reason): Promise<StoredEntry> {
  const { position, node, turn } = held;
  const { kept, io, result, warm, logs, reason: why } = await stopTurn(ports, held, reason, 0);
  const hasBegun = turn.sandbox !== null || turn.due !== undefined;
  const code = hasBegun && node.executor.kind === "code" ? sha256(node.executor.code) : null;
  const run: RunFacts = { ...turnFacts(turn), warm, code };
  const executionTimeMs = turn.due === undefined ? heldMs(ports, turn) : 0;
  const outcome = result
    ? await judge(held, result, io, run)
    : failed(held, { ...why, message: io.mask(why.message) }, { logs, executionTimeMs, run });
  return commitOutcome(ports, position, node, outcome, kept);
}
