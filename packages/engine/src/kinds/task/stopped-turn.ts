import { secretKeys, type TaskNode } from "@nova/workflow";
import { contextBefore } from "../../chain/item-input.ts";
import { linkName } from "../../chain/link-name.ts";
import type { LoadedContext, Position } from "../../chain/position.ts";
import { NovaError } from "../../errors.ts";
import type { Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { CodeResult, RunIo, Sandbox, StopOutcome } from "../../ports/sandboxes.ts";
import { lastFailure } from "../../protocol/attempts.ts";
import type { HeldNode } from "../../protocol/definition.ts";
import { withoutPool } from "../../protocol/held-turn.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { overlayBefore } from "../../secrets/overlay.ts";
import { knownSandbox } from "./place.ts";
import { createNodeIo, type NodeIo } from "./run-io.ts";

/** What is left of a turn when no code of its link runs any more. */
export interface StoppedTurn {
  kept: LoadedContext;
  io: NodeIo;
  /** The result of code that had finished before it was stopped. */
  result: CodeResult | undefined;
  /** The scope's sandbox, if it survived. */
  warm: Sandbox | null;
  /** What stopped code had printed, masked. */
  logs: string;
  /** Why the node fails, if it does. */
  reason: Reason;
}

/** Stops the code of a turn. A sandbox that cannot be reached is killed by the control plane. `step`: the one whose result counts. */
export async function stopTurn(
  ports: SettlingPorts,
  { position, node, version, turn }: HeldNode<TaskNode>,
  reason: Reason,
  step: number,
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
    warm: node.isolation === "fresh" ? position.before.warm : warmAfterStop(stopped, position.before.warm, turn),
    logs: stopped?.kind === "stopped" ? io.maskLogs(stopped.logs) : "",
    reason: why,
  };
}

/** No other execution takes over a sandbox in which code was killed. */
function warmAfterStop(stopped: StopOutcome | null, warm: Sandbox | null, turn: Turn): Sandbox | null {
  if (stopped?.kind === "gone") return null;
  const known = knownSandbox(turn, warm);
  const wasKilled = stopped?.kind === "stopped" || (stopped?.kind === "finished" && stopped.result.isUnfit);
  return wasKilled ? withoutPool(known) : known;
}

/** Step Functions does not try again: the node fails with the error of its last attempt. */
async function afterAll(ports: SettlingPorts, { at }: Position, { message }: Reason): Promise<Reason> {
  return (await lastFailure(ports, at)) ?? { class: "NodeFailed", message };
}

/** One stop may take this long. The delivery that asked for it comes again. */
const stopTimeoutMs = 60_000;

/** For a prompt node: only its pipeline can judge a result, so no claim answers for the node. */
export const noStep = -1;

/** Afterwards no code of the link runs or begins. Answers the result where the code of `step` had finished. */
export async function stopCode(
  ports: Ports,
  { at }: Position,
  turn: Turn,
  io: RunIo,
  step: number,
): Promise<StopOutcome | null> {
  if (turn.sandbox === null) return null;
  const claim = { link: linkName(at), step, attempt: turn.attempt };
  try {
    return await ports.sandboxes.stop(turn.sandbox, claim, io, ports.timer.timeout(stopTimeoutMs));
  } catch (error) {
    // Unreachable, or its harness is out of order: either way only the control plane can make sure that nothing runs.
    if (!(error instanceof NovaError)) throw error;
    await ports.sandboxes.kill(turn.sandbox);
    return { kind: "gone" };
  }
}
