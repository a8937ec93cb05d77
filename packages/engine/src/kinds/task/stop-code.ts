import { linkName } from "../../chain/link-name.ts";
import type { Position } from "../../chain/position.ts";
import { NovaError } from "../../errors.ts";
import type { Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { RunIo, StopOutcome } from "../../ports/sandboxes.ts";

/** Limit of one stop; the delivery that asked for it comes again. */
const stopTimeoutMs = 60_000;

/** Of a prompt node: what a pipeline makes of a result nobody else knows, so none of its claims answers for the node. */
export const noStep = -1;

/** Afterwards no code of the link runs or begins. A finished claim of `step` answers its result. */
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
