import { LRUCache } from "lru-cache";

/** An event of an execution, as its Lambda functions are invoked. */
export interface NodeEvent {
  node: string;
  /** In the body of a map: the number of the item, after the numbers of the items around it. */
  items?: number[];
  /** The outermost map of `items`. */
  map?: string;
  /** The number of items, for a map that succeeded. */
  count?: number;
  /** `waiting`: the function has ended, and the node continues after an answer or at a time. */
  state: "started" | "waiting" | "retrying" | "succeeded" | "failed";
  /** For an attempt that failed: the reason, and when the next one starts. For a success: its origin. */
  message?: string;
}

export type Listener = (event: NodeEvent) => void;

/**
 * An event with its execution, for listeners to all executions. `ended`: the execution has ended, and its hooks are
 * done.
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

/** Knows which listener waits for which execution, in this process or as a guest. */
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
    // A listener may be about to ask, so ended executions stay for a while.
    this.#open.delete(execution);
    this.#over.set(execution, run);
    this.#watcher({ execution, state: "ended" });
  }

  /**
   * Resolves when the execution has ended and its hooks are done. The listener also receives earlier events: a caller
   * learns the id of its run only after the start.
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
