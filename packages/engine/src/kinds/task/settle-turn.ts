import { contextBefore } from "../../chain/item-input.ts";
import type { Position } from "../../chain/position.ts";
import { NovaError } from "../../errors.ts";
import { sha256 } from "../../json/hash.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import { lastFailure } from "../../protocol/attempts.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { type NodeDefinition, wayTo } from "../../protocol/definition.ts";
import { type Outcome, type RunFacts, turnFacts } from "../../protocol/outcome.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { laidOverBefore, nothingLaid } from "../../secrets/laid-over.ts";
import { secretKeys } from "../../secrets/secret-inputs.ts";
import { settleChild } from "../child/settle-child.ts";
import { stoppedOutcome } from "../prompt/stopped.ts";
import { settleWaiting } from "../waiting/settle-waiting.ts";
import { judge } from "./judge.ts";
import { createNodeIo } from "./run-io.ts";
import { noStep, stopCode } from "./stop-code.ts";

/**
 * Gives a turn that is `failing` or `closed` its entry: the result its claim kept, committed as the node's own, else a
 * failed one for `reason`. Before a failed entry is written everything of the link is dead: a sandbox that cannot be
 * reached is killed by the control plane.
 */
export async function settleTurn(
  ports: SettlingPorts,
  position: Position,
  definition: NodeDefinition,
  turn: Turn,
  reason: Reason,
): Promise<StoredEntry> {
  const { node, edges, version } = definition;
  if (node.type === "approval" || node.type === "wait") return settleWaiting(ports, position, definition, turn, reason);
  if (node.type === "workflow") return settleChild(ports, position, { ...definition, node }, turn, reason);
  if (node.type === "start" || node.type === "end") {
    throw new NovaError("ChainBroken", `${node.type} node "${node.id}" cannot hold a turn`);
  }
  if (reason.class === "NodeRetry")
    return settleTurn(ports, position, definition, turn, await afterAll(ports, position, reason));
  const kept = await contextBefore(ports, position);
  const whose = "executor" in node && { client: position.before.client, version, node };
  const laid = whose ? await laidOverBefore(ports, whose) : nothingLaid;
  const io = await createNodeIo(ports, position, kept.context, secretKeys(version.workflow), laid);
  const isPrompt = "executor" in node && node.executor.kind === "prompt";
  const stopped = await stopCode(ports, position, turn, io, isPrompt ? noStep : 0);
  const warm = stopped?.kind !== "gone" && position.before.warm?.id === turn.sandbox ? position.before.warm : null;
  const logs = stopped?.kind === "stopped" ? io.maskLogs(stopped.logs) : "";
  if (isPrompt) {
    const outcome = await stoppedOutcome(ports, position, definition, turn, { reason, warm, logs });
    return commitOutcome(ports, position, node, outcome, kept);
  }
  const run: RunFacts = {
    ...turnFacts(turn),
    warm,
    code:
      (turn.sandbox !== null || turn.due !== undefined) && "executor" in node && node.executor.kind === "code"
        ? sha256(node.executor.code)
        : null,
  };
  const outcome: Outcome =
    stopped?.kind === "finished" && "executor" in node
      ? await judge({ node, edges, version, position }, stopped.result, io, run)
      : {
          status: "failed",
          class: reason.class,
          failure: { message: io.mask(reason.message) },
          logs,
          executionTimeMs: turn.due === undefined ? Math.max(0, ports.clock.now() - Date.parse(turn.since)) : 0,
          run,
          next: wayTo(version, node.onError),
        };
  return commitOutcome(ports, position, node, outcome, kept);
}

/** Step Functions has waited for the last time: the node fails as its last attempt did. */
async function afterAll(ports: SettlingPorts, { at }: Position, { message }: Reason): Promise<Reason> {
  return (await lastFailure(ports, at)) ?? { class: "NodeFailed", message };
}
