import { LRUCache } from "lru-cache";

/** What happens in an execution, as its Lambda functions are invoked. */
export interface NodeEvent {
  node: string;
  /** In the body of a map: the number of its item, behind those of the items around it. */
  items?: number[];
  /** Beside `items`: the outermost map that has them. */
  map?: string;
  /** Of a map that succeeded: how many items it has. */
  count?: number;
  /** `waiting`: its function is done, and it goes on when somebody answers or a time has come. */
  state: "started" | "waiting" | "retrying" | "succeeded" | "failed";
  /** Of an attempt that another one follows: why it failed, and when that begins. Of a success: how it came about. */
  message?: string;
}

export type Listener = (event: NodeEvent) => void;

/** The same for whoever watches all executions; `ended`: it is over, and what follows an end is done. */
export type RunEvent = { execution: string } & (NodeEvent | { state: "ended" });

export type Watcher = (event: RunEvent) => void;

interface Run {
  events: NodeEvent[];
  listeners: Set<Listener>;
  ended: PromiseWithResolvers<void>;
}

/** Of ended executions, those that somebody may still ask about: the latest. */
const remembered = 1_000;

/** Who waits for which execution, in this process or as a guest. */
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
    // Not at once, and never one that is on its way: somebody may be about to listen.
    this.#open.delete(execution);
    this.#over.set(execution, run);
    this.#watcher({ execution, state: "ended" });
  }

  /**
   * Resolves when the execution has ended and what follows an end is done. The listener hears what was before it came
   * as well: whoever starts a run learns its id only when it is on its way.
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
