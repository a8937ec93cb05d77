import { type EndNode, pauseSeconds, type TaskNode } from "@nova/workflow";
import { latestPosition, type Position } from "../chain/position.ts";
import { NovaError } from "../errors.ts";
import type { LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { answerFor, closed, committedEntry } from "../protocol/answer.ts";
import { closeExecution } from "../protocol/close.ts";
import { commitOutcome } from "../protocol/commit.ts";
import { definitionOf, type NodeDefinition } from "../protocol/definition.ts";
import type { EndAnswer, NodeEvent, RunningAnswer, TaskAnswer } from "../protocol/event.ts";
import { refuseForeignTurn } from "../protocol/held-turn.ts";
import { killOvertaken } from "../protocol/overtaken.ts";
import { type ChildAnswer, runChild } from "./child/run-child.ts";
import { type FollowTime, tenSeconds } from "./code/follow.ts";
import { runTask, type TaskTime } from "./code/run-code.ts";
import { runMap } from "./map/run-map.ts";
import { runPrompt } from "./prompt/run-prompt.ts";
import { awaited, isEarly, retryText } from "./task/retry.ts";
import { runWait, type WaitAnswer, type WaitEvent } from "./waiting/wait.ts";

type NodeAnswer = TaskAnswer | EndAnswer | WaitAnswer | ChildAnswer | RunningAnswer;

/**
 * The task of one node (docs: the protocol of a node). Reads its place in the chain; a committed outcome is answered
 * and nothing runs; else the node runs once, whatever the number of deliveries. Throws `NovaError`s, whose names the
 * state machine's Retry and Catch match. `signal` fires when the Lambda's time is nearly over.
 * `followTime` says how long code that may outlive it is followed.
 */
export function runNode(
  ports: Ports,
  event: WaitEvent,
  signal: AbortSignal,
  { followTime = tenSeconds }: { followTime?: FollowTime } = {},
): Promise<NodeAnswer> {
  return ports.atWork.during(event.execution.id, () => answerOf(ports, event, { signal, followTime }));
}

async function answerOf(ports: Ports, event: WaitEvent, time: TaskTime): Promise<NodeAnswer> {
  const at: LinkId = { execution: event.execution.id, scope: event.scope, seq: event.seq + 1 };
  const definition = await definitionOf(ports, event);
  if (definition.node.type === "workflow") return runChild(ports, event, definition, definition.node);
  if (definition.node.type === "wait") return runWait(ports, event, definition, definition.node);
  for (;;) {
    const position = await latestPosition(ports, at);
    const entry = committedEntry(position, event) ?? (await produceEntry(ports, position, definition, event, time));
    await killOvertaken(ports, position.next);
    if (entry === "again") continue;
    if ("since" in entry) return runningAnswer(ports, event, entry, definition.node as TaskNode);
    if (definition.node.type === "end") return endAnswer(ports, event, at.seq);
    return answerFor(entry, event, ports);
  }
}

async function produceEntry(
  ports: Ports,
  position: Position,
  { node, version, edges }: NodeDefinition,
  event: NodeEvent,
  time: TaskTime,
): Promise<StoredEntry | "again" | Turn> {
  refuseForeignTurn(position, event.node);
  switch (node.type) {
    case "end":
      return commitEnd(ports, position, node);
    case "start":
      throw new NovaError("ChainBroken", `start node "${node.id}" is no task: its entry is link 0`);
    case "map":
      return runMap(ports, position, { node, version, edges }, event);
    case "approval":
    case "wait":
    case "workflow":
      throw new NovaError("ChainBroken", `${node.type} node "${node.id}" has tasks of its own, and came here`);
    default: {
      const held = position.next.turn;
      if (held && isEarly(ports, held)) return awaited(node, held);
      const { retries } = event;
      const task = { position, node: node satisfies TaskNode, version, edges, retries };
      return node.executor.kind === "prompt" ? runPrompt(ports, task, time.signal) : runTask(ports, task, time);
    }
  }
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

function commitEnd(ports: Ports, position: Position, node: EndNode): Promise<StoredEntry> {
  return commitOutcome(ports, position, node, {
    status: "success",
    changes: { set: [], delete: [] },
    decision: null,
    next: null,
    logs: "",
    executionTimeMs: 0,
    run: { attempt: 1, sandboxId: null, warm: null, code: null },
  });
}

/** An end node closes, each time it is delivered; the run has only ended well if the close entry says so. */
async function endAnswer(ports: Ports, { execution, scope }: NodeEvent, seq: number): Promise<EndAnswer> {
  const close = await closeExecution(ports, { execution: execution.id, status: "completed" });
  if (close.status !== "completed") throw closed(execution.id);
  return { execution, scope, seq, status: "completed", tip: close.tip };
}
