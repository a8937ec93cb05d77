import type { Position } from "../chain/position.ts";
import { leafLimitBytes } from "../context/offload.ts";
import { sha256 } from "../json/hash.ts";
import type { Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { Outcome } from "./outcome.ts";

/** A step of the chain of work, as stored (format 1): one run of an agent, or of code that will be run again. */
export interface StepRecord {
  format: 1;
  step_number: number;
  step_name: string;
  agent_name: string;
  attempt_number: number;
  sandbox_id: string | null;
  status: "success" | "failed";
  error_message: string | null;
  traceback?: string;
  /** The end of what it printed. */
  logs?: string;
  execution_time_ms: number;
  timestamp: string;
}

/** Records an attempt that another one follows; the entry lists it. A step that is there already is the same one. */
export async function recordAttempt(
  ports: Ports,
  { at }: Position,
  turn: Turn,
  outcome: Outcome & { status: "failed" },
): Promise<void> {
  const record: StepRecord = {
    format: 1,
    step_number: turn.attempt,
    step_name: "code_execution",
    agent_name: "E2BExecutor",
    attempt_number: turn.attempt,
    sandbox_id: turn.sandbox,
    status: "failed",
    error_message: outcome.failure.message,
    ...(outcome.failure.traceback !== undefined && { traceback: outcome.failure.traceback.slice(-leafLimitBytes) }),
    ...(outcome.logs !== "" && { logs: outcome.logs.slice(-leafLimitBytes) }),
    execution_time_ms: outcome.executionTimeMs,
    timestamp: new Date(ports.clock.now()).toISOString(),
  };
  const text = JSON.stringify(record);
  await ports.chain.putStep(at, { step: turn.attempt, text, hash: sha256(text) });
}
