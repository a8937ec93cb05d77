import { secretKeys, type TaskNode } from "@nova/workflow";
import { entryName } from "../chain/ids.ts";
import { contextBefore, type Position } from "../chain/position.ts";
import { NovaError, recoverFrom } from "../errors.ts";
import type { Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { RunIo, Sandbox, StopOutcome } from "../ports/sandboxes.ts";
import type { HeldNode, Reason, SettlingPorts } from "../protocol/definition.ts";
import { knownSandbox, moveSandboxes, warmBefore, withoutPool } from "../sandboxes/life.ts";
import { overlayBefore } from "../secrets/overlay.ts";
import { lastFailure } from "./retry.ts";
import { createNodeIo } from "./task-input.ts";

/** Stops the code of a turn. `step` names the run of code whose result counts if that code has finished. */
export async function stopTurn(ports: SettlingPorts, held: HeldNode<TaskNode>, reason: Reason, step: number) {
  const { position, node, version, turn } = held;
  // A `NodeRetry` says that Step Functions has stopped retrying. The node then fails with the error of its last attempt.
  const last = reason.class === "NodeRetry" ? await lastFailure(ports, position.at) : reason;
  const why = last ?? { class: "NodeFailed" as const, message: reason.message };
  const kept = await contextBefore(ports, position);
  const overlay = await overlayBefore(ports, { client: position.before.client, version, node });
  const io = await createNodeIo(ports, position, kept.context, secretKeys(version.workflow), overlay);
  const stopped = await stopCode(ports, position, turn, io, step);
  return {
    kept,
    io,
    /** The result of code that had finished before it was stopped. */
    result: stopped?.kind === "finished" ? stopped.result : undefined,
    /** The sandbox of the scope, if it survived the stop. */
    warm: node.isolation === "fresh" ? warmBefore(position) : warmAfterStop(stopped, warmBefore(position), turn),
    logs: stopped?.kind === "stopped" ? io.maskLogs(stopped.logs) : "",
    /** The failure of the node, if `result` is undefined. */
    reason: why,
  };
}

/**
 * Returns the sandbox of the scope after a stop. If code was killed in this sandbox, no other execution may use the
 * sandbox later.
 */
function warmAfterStop(stopped: StopOutcome | null, warm: Sandbox | null, turn: Turn): Sandbox | null {
  if (stopped?.kind === "gone") return null;
  const known = knownSandbox(turn, warm);
  const wasKilled = stopped?.kind === "stopped" || (stopped?.kind === "finished" && stopped.result.isUnfit);
  return wasKilled ? withoutPool(known) : known;
}

/** The longest time for one stop. If a stop takes longer, Step Functions repeats the delivery. */
const stopTimeoutMs = 60_000;

/**
 * The `step` to pass for a prompt node. It names no run of code: results of code that a model wrote count only after
 * the pipeline of the node has judged them.
 */
export const noStep = -1;

/**
 * Stops all code of the turn, so that this code cannot start again. If the code of `step` had finished, returns the
 * result of that code.
 */
export async function stopCode(ports: Ports, { at }: Position, turn: Turn, io: RunIo, step: number) {
  if (turn.sandbox === null) return null;
  const claim = { link: entryName(at), step, attempt: turn.attempt };
  const stopping = ports.sandboxes.stop(turn.sandbox, claim, io, ports.timer.timeout(stopTimeoutMs));
  const stopped = await stopping.catch(recoverFrom(NovaError, () => null));
  if (stopped) return stopped;
  // A `NovaError` says that the sandbox does not answer or that its harness is broken. Only E2B can kill such a sandbox.
  await moveSandboxes(ports, "in use", "turn left", [turn.sandbox]);
  return { kind: "gone" as const };
}
