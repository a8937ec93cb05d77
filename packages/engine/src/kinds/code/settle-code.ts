import type { TaskNode } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import { sha256 } from "../../json/text.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { type NodeDefinition, wayTo } from "../../protocol/definition.ts";
import { type Outcome, type RunFacts, turnFacts } from "../../protocol/outcome.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { judge } from "../task/judge.ts";
import { stopTurn } from "../task/stopped-turn.ts";

/** The result that the claim kept is committed as the node's own; without one the node has failed. */
export async function settleCode(
  ports: SettlingPorts,
  position: Position,
  definition: NodeDefinition & { node: TaskNode },
  turn: Turn,
  reason: Reason,
): Promise<StoredEntry> {
  const { node, version, edges } = definition;
  const {
    kept,
    io,
    result,
    warm,
    logs,
    reason: why,
  } = await stopTurn(ports, position, definition, { turn, reason, step: 0 });
  const hasBegun = turn.sandbox !== null || turn.due !== undefined;
  const code = hasBegun && node.executor.kind === "code" ? sha256(node.executor.code) : null;
  const run: RunFacts = { ...turnFacts(turn), warm, code };
  const outcome: Outcome = result
    ? await judge({ node, edges, version, position }, result, io, run)
    : {
        status: "failed",
        class: why.class,
        failure: { message: io.mask(why.message) },
        logs,
        executionTimeMs: turn.due === undefined ? Math.max(0, ports.clock.now() - Date.parse(turn.since)) : 0,
        run,
        next: wayTo(version, node.onError),
      };
  return commitOutcome(ports, position, node, outcome, kept);
}
