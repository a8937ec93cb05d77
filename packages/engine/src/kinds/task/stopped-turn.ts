import { secretKeys, type TaskNode } from "@nova/workflow";
import { contextBefore } from "../../chain/item-input.ts";
import type { LoadedContext, Position } from "../../chain/position.ts";
import type { Turn } from "../../ports/chain.ts";
import type { CodeResult, Sandbox, StopOutcome } from "../../ports/sandboxes.ts";
import { lastFailure } from "../../protocol/attempts.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { overlayBefore } from "../../secrets/overlay.ts";
import { withoutPool } from "./place.ts";
import { createNodeIo, type NodeIo } from "./run-io.ts";
import { stopCode } from "./stop-code.ts";

/** What is left of a turn when no code of its link runs any more. */
export interface StoppedTurn {
  kept: LoadedContext;
  io: NodeIo;
  /** What the claim had finished with. */
  result: CodeResult | undefined;
  /** The scope's sandbox, if it survived. */
  warm: Sandbox | null;
  /** What stopped code had printed, masked. */
  logs: string;
  /** Why the node fails, if it does. */
  reason: Reason;
}

/** Stops the code of a turn. A sandbox that cannot be reached is killed by the control plane. `step`: whose result counts. */
export async function stopTurn(
  ports: SettlingPorts,
  position: Position,
  { node, version }: NodeDefinition & { node: TaskNode },
  { turn, reason, step }: { turn: Turn; reason: Reason; step: number },
): Promise<StoppedTurn> {
  const why = reason.class === "NodeRetry" ? await afterAll(ports, position, reason) : reason;
  const kept = await contextBefore(ports, position);
  const overlay = await overlayBefore(ports, { client: position.before.client, version, node });
  const io = await createNodeIo(ports, position, kept.context, secretKeys(version.workflow), overlay);
  const stopped = await stopCode(ports, position, turn, io, step);
  return {
    kept,
    io,
    result: stopped?.kind === "finished" ? stopped.result : undefined,
    warm: warmBehind(stopped, position.before.warm, turn),
    logs: stopped?.kind === "stopped" ? io.maskLogs(stopped.logs) : "",
    reason: why,
  };
}

/** Where code was killed nobody but this execution goes on. */
function warmBehind(stopped: StopOutcome | null, warm: Sandbox | null, turn: Turn): Sandbox | null {
  if (stopped?.kind === "gone" || warm?.id !== turn.sandbox) return null;
  return stopped?.kind === "stopped" ? withoutPool(warm) : warm;
}

/** Step Functions has waited for the last time: the node fails as its last attempt did. */
async function afterAll(ports: SettlingPorts, { at }: Position, { message }: Reason): Promise<Reason> {
  return (await lastFailure(ports, at)) ?? { class: "NodeFailed", message };
}
