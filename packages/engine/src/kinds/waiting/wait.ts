import type { WaitNode } from "@nova/workflow";
import { secretKeys } from "@nova/workflow";
import { headOf } from "../../chain/head.ts";
import { contextBefore } from "../../chain/item-input.ts";
import { inputAfter, type Position } from "../../chain/position.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { answerFor } from "../../protocol/answer.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import { entryOrTurn, letGo } from "../../protocol/entry-or-turn.ts";
import type { RunPosition, TaskAnswer, WaitEvent } from "../../protocol/event.ts";
import { markWaiting, refreshStatus } from "../../protocol/status.ts";
import { redactorFor } from "../../secrets/secret-inputs.ts";
import { failed, goneOn } from "./outcomes.ts";
import { type Until, untilOf } from "./until.ts";

/** A longer wait lets the scope's sandbox go, and is told as waiting. */
const keptWarmMs = 60_000;

/** What the first task answers: Step Functions pauses until then. Nothing is in the chain but the turn. */
export interface WaitAnswer extends RunPosition {
  /** ISO 8601. */
  until: string;
}

/** A wait for a time: the first task takes the turn and says until when, the second writes the entry. */
export async function runWait(
  ports: Ports,
  event: WaitEvent,
  definition: NodeDefinition & { node: WaitNode },
): Promise<TaskAnswer | WaitAnswer> {
  const { node } = definition;
  for (;;) {
    const place = await entryOrTurn(ports, event);
    if (place.entry) return answerEntry(ports, event, place.entry);
    const { position, turn } = place;
    const until = await untilFor(ports, position, definition, node, turn);
    const times = { turn, nowMs: ports.clock.now() };
    if ("problem" in until) {
      const reason = { class: "NodeFailed", message: until.problem } as const;
      await commitOutcome(ports, position, node, failed(definition, reason, times));
      continue;
    }
    const isLong = until.ms - Date.parse(turn.since) > keptWarmMs;
    if (event.waited) {
      const warm = isLong ? null : position.before.warm;
      await commitOutcome(ports, position, node, goneOn(definition, [], { ...times, warm }));
    } else if (!isLong || (await beginLongWait(ports, position))) return pauseUntil(event, until.ms);
  }
}

/** The record says that it waits, and no sandbox waits with it. False: the node has an outcome already; read again. */
async function beginLongWait(ports: Ports, { at, before }: Position): Promise<boolean> {
  await markWaiting(ports, at.execution);
  const { entry } = await ports.chain.read(at);
  if (entry) await refreshStatus(ports, at.execution);
  else await letGo(ports, before.warm);
  return !entry;
}

/** A late delivery of the first task has nothing to wait for any more. */
async function answerEntry(ports: Ports, event: WaitEvent, entry: StoredEntry): Promise<TaskAnswer | WaitAnswer> {
  const answer = await answerFor(entry, event, ports);
  const head = headOf(entry);
  if (!event.waited) return pauseUntil(event, Date.parse(head.timestamp));
  if (head.execution_time_ms > keptWarmMs) await refreshStatus(ports, head.execution_id);
  return answer;
}

function pauseUntil({ execution, scope, seq }: WaitEvent, ms: number): WaitAnswer {
  return { execution, scope, seq, until: new Date(ms).toISOString() };
}

async function untilFor(
  ports: Ports,
  position: Position,
  { version }: NodeDefinition,
  node: WaitNode,
  turn: Turn,
): Promise<Until> {
  const { before, beforeEntry } = position;
  const { context } = await contextBefore(ports, position);
  const input = await inputAfter(beforeEntry, context, ports.blobs);
  const until = untilOf(node, input, Date.parse(turn.since));
  if (!("problem" in until)) return until;
  const read = (sha256: string) => ports.blobs.get(before, sha256);
  const redactor = await redactorFor(secretKeys(version.workflow), input, read);
  return { problem: redactor.mask(until.problem) };
}
