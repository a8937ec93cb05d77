import type { InvokeLambda, LambdaResult } from "@nova/aws-local";
import { itemsOf } from "@nova/engine";
import { LRUCache } from "lru-cache";

/** An event of a node, derived from the invocation of a Lambda function. */
export interface NodeEvent {
  node: string;
  /**
   * The numbers of the map items that contain the node, from the outermost map to the innermost. Absent outside maps.
   */
  items?: number[];
  /** The id of the outermost map that contains the node. */
  map?: string;
  count?: number;
  /** `waiting`: the function has ended, and the node continues after an answer or at a certain time. */
  state: "started" | "waiting" | "retrying" | "succeeded" | "failed";
  /**
   * For a failed attempt: the reason, and when the next attempt starts. For a success: whether the outcome is reused.
   */
  message?: string;
}

export type Listener = (event: NodeEvent) => void;

/**
 * An event with its execution. `ended` means that the execution has ended, and that NOVA's work after its end is done.
 */
export type RunEvent = { execution: string } & (NodeEvent | { state: "ended" });

export type Watcher = (event: RunEvent) => void;

interface Run {
  events: NodeEvent[];
  listeners: Set<Listener>;
  ended: PromiseWithResolvers<void>;
}

/** The number of ended executions that listeners can still ask about. */
const remembered = 1_000;

/** Passes the events of each execution to its listeners, in this process or in guests. */
export class Progress {
  readonly #open = new Map<string, Run>();
  readonly #over = new LRUCache<string, Run>({ max: remembered });
  readonly #watcher: Watcher;

  constructor(watcher: Watcher = () => {}) {
    this.#watcher = watcher;
  }

  note(execution: string, event: NodeEvent): void {
    const run = this.#run(execution);
    run.events.push(event);
    this.#watcher({ execution, ...event });
    for (const listener of run.listeners) listener(event);
  }

  end(execution: string): void {
    const run = this.#run(execution);
    run.ended.resolve();
    run.listeners.clear();
    // An ended execution is kept for a while, because a listener may ask for it only after the end.
    this.#open.delete(execution);
    this.#over.set(execution, run);
    this.#watcher({ execution, state: "ended" });
  }

  /**
   * Resolves when the execution has ended and NOVA's work after its end is done. The listener also receives earlier
   * events, because a caller learns the id of its run only after the start.
   */
  async untilEnd(execution: string, listener: Listener = () => {}): Promise<void> {
    const run = this.#run(execution);
    for (const event of run.events) listener(event);
    if (!this.#over.has(execution)) run.listeners.add(listener);
    await run.ended.promise;
  }

  #run(execution: string): Run {
    const known = this.#open.get(execution) ?? this.#over.get(execution);
    if (known) return known;
    const run: Run = { events: [], listeners: new Set(), ended: Promise.withResolvers() };
    this.#open.set(execution, run);
    return run;
  }
}

/** The functions that run nodes, or that ask people for the outcome of a node. */
const nodeFunctions = ["nova-run-node", "nova-request-approval"];

/** Reports progress from the invocations of functions, because every node passes through one. */
export function withProgress(invoke: InvokeLambda, progress: Progress): InvokeLambda {
  return async (functionArn, payload, signal) => {
    const place = nodeFunctions.some((name) => functionArn.includes(name)) ? placeOf(payload) : null;
    if (!place) return invoke(functionArn, payload, signal);
    const { execution, isNew, ...node } = place;
    if (isNew) progress.note(execution, { ...node, state: "started" });
    const result = await invoke(functionArn, payload, signal);
    const outcome = result.ok ? outcomeIn(result.payload) : failureIn(result);
    if (outcome) progress.note(execution, { ...node, ...outcome });
    return result;
  };
}

function failureIn({ errorType, errorMessage }: LambdaResult & { ok: false }): Outcome {
  return errorType === "NodeRetry" ? { state: "retrying", message: errorMessage } : { state: "failed" };
}

function placeOf(payload: string) {
  const { execution, scope = "", node, waited } = JSON.parse(payload) as Asked;
  return execution?.id && node ? { execution: execution.id, node, isNew: waited !== true, ...itemsOf(scope) } : null;
}

/**
 * Reads the state of a node from the answer of one invocation. The node waits if the answer has a task, a time or a
 * child execution. Null if the code of the node continues in the next invocation.
 */
function outcomeIn(payload: string): Outcome | null {
  const answer = JSON.parse(payload) as Answered;
  if (answer.running) return answer.retry === undefined ? null : { state: "retrying", message: answer.retry };
  if (answer.task || answer.until || answer.child) return { state: "waiting" };
  const reused = answer.summary?.reused && { message: "reused" };
  return { state: "succeeded", ...(answer.count !== undefined && { count: answer.count }), ...reused };
}

type Outcome = Pick<NodeEvent, "state" | "message" | "count">;
type Asked = { execution?: { id?: string }; scope?: string; node?: string; waited?: boolean };
type Answered = {
  task?: string | null;
  until?: string;
  child?: object;
  count?: number;
  summary?: { reused?: true };
  running?: true;
  retry?: string;
};
