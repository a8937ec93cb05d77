import { pauseSeconds, type TaskNode } from "@nova/workflow";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { answerFor } from "../../protocol/answer.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import type { NodeEvent, RunningAnswer, TaskAnswer } from "../../protocol/event.ts";
import { runUntilCommitted } from "../../protocol/held-turn.ts";
import type { KindPorts } from "../../protocol/settling.ts";
import { isEarly, retryText, waitForRetry } from "./retry.ts";
import type { Task } from "./task.ts";

/** What one pass over a task comes to: an entry, the turn whose code runs on or is to run again, or another pass. */
export type Produced = StoredEntry | "again" | Turn;

/** A node that runs code, its own or a model's: `pass` takes the turn, runs the code or attaches to it, and commits. */
export async function runTask(
  ports: KindPorts,
  event: NodeEvent,
  { node, version, edges }: NodeDefinition<TaskNode>,
  pass: (task: Task) => Promise<Produced>,
): Promise<TaskAnswer | RunningAnswer> {
  const entry = await runUntilCommitted(ports, event, async (position): Promise<Produced> => {
    const held = position.next.turn;
    if (held && isEarly(ports, held)) return waitForRetry(node, held);
    return pass({ position, node, version, edges, retries: event.retries });
  });
  return "since" in entry ? runningAnswer(ports, event, entry, node) : answerFor(entry, event, ports);
}

function runningAnswer(ports: Ports, { execution, scope, seq }: NodeEvent, turn: Turn, node: TaskNode): RunningAnswer {
  const seconds = (from: number, to: number) => (to - from) / 1000;
  const now = ports.clock.now();
  const running = { execution, scope, seq, running: true } as const;
  if (turn.due === undefined)
    return { ...running, pause: pauseSeconds(seconds(Date.parse(turn.since), now), node.timeoutSeconds) };
  const pause = Math.max(1, Math.ceil(seconds(now, Date.parse(turn.due))));
  return { ...running, pause, retry: retryText(node, turn) };
}
