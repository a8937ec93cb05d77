import type { RunErrorClass, TaskNode } from "@nova/workflow";
import type { Position } from "../chain/position.ts";
import { attemptNumber } from "../chain/steps/step-record.ts";
import { leafLimitBytes } from "../context/references.ts";
import type { LinkId, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import type { FailedOutcome } from "./outcome.ts";
import type { Reason } from "./settling.ts";

/** A step of the chain of work, as stored (format 1): a failed attempt of a node that has several. */
export interface StepRecord {
  format: 1;
  step_number: number;
  step_name: string;
  agent_name: string;
  attempt_number: number;
  sandbox_id: string | null;
  status: "success" | "failed";
  /** The class of its error; absent for a success. */
  error_class?: RunErrorClass;
  error_message: string | null;
  traceback?: string;
  /** The end of what it printed. */
  logs?: string;
  /** The run of its code; of a prompt node all that its agents did. */
  execution_time_ms: number;
  /** How long the next attempt is waited for; with jitter at most. Absent: none follows. */
  retry_delay_ms?: number;
  timestamp: string;
}

/** The step name for an attempt of a whole prompt or text node, in which its models have attempts of their own. */
export const nodeAttempt = { step_name: "node_attempt", agent_name: "Node" } as const;

const codeAttempt = { step_name: "code_execution", agent_name: "E2BExecutor" } as const;

/** Records a failed attempt; the entry lists it. A step that is there already is the same one. */
export async function recordAttempt(
  ports: Ports,
  { position: { at }, node: { executor } }: { position: Position; node: TaskNode },
  turn: Turn,
  { class: error_class, failure, logs, executionTimeMs }: FailedOutcome,
  delaySeconds?: number,
): Promise<void> {
  const { attempt, sandbox } = turn;
  const hasJournal = executor.kind !== "code";
  const record: StepRecord = {
    format: 1,
    step_number: attempt,
    ...(hasJournal ? nodeAttempt : codeAttempt),
    attempt_number: attempt,
    sandbox_id: sandbox,
    status: "failed",
    error_class,
    error_message: failure.message,
    ...(failure.traceback !== undefined && { traceback: failure.traceback.slice(-leafLimitBytes) }),
    ...(logs !== "" && { logs: logs.slice(-leafLimitBytes) }),
    execution_time_ms: executionTimeMs,
    ...(delaySeconds !== undefined && { retry_delay_ms: delaySeconds * 1000 }),
    timestamp: new Date(ports.clock.now()).toISOString(),
  };
  const text = JSON.stringify(record);
  await ports.chain.putStep(at, { step: hasJournal ? attemptNumber(turn) : attempt, text, hash: sha256(text) });
}

/** The failed attempts that are recorded at a link, in order. */
export async function failedAttempts({ chain }: Ports, at: LinkId): Promise<StepRecord[]> {
  const kept = (await chain.steps(at)).filter(({ text }) => text !== "");
  const records = kept.map(({ text }) => JSON.parse(text) as StepRecord);
  return records.filter(({ error_class }) => error_class !== undefined);
}

/** How the last attempt at a link failed that has been recorded. */
export async function lastFailure(ports: Ports, at: LinkId): Promise<Reason | undefined> {
  const last = (await failedAttempts(ports, at)).at(-1);
  return last?.error_class && { class: last.error_class, message: last.error_message ?? "" };
}
