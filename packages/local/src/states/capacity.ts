import { availableParallelism, cpus } from "node:os";

/** How often it is looked whether processors idle while something waits. */
const lookMs = 50;
/** A share of all processors' time: where more is left, another one begins. */
const idleShare = 0.2;
/** What is at work for so long keeps nobody waiting any more. */
const longestMs = 2_000;

/** Of all processors since the machine started. */
export interface ProcessorTimes {
  idleMs: number;
  allMs: number;
}

/**
 * Has as much at work at once as the machine has processors for, the oldest first: a hundred executions that begin
 * together need a few sandboxes one after another, and not a hundred at once. What waits for a server or a clock leaves
 * processors idle, and then more begins.
 */
export class Capacity {
  readonly #size: number;
  readonly #times: () => ProcessorTimes;
  readonly #waiting: { since: number; begin: () => void }[] = [];
  #atWork = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(size = 2 * availableParallelism(), times = processorTimes) {
    this.#size = size;
    this.#times = times;
  }

  /** Calls `begin` when it is its turn, which may be at once; `since` says how old it is. Whoever calls the answer makes room. */
  enter(since: number, begin: () => void): () => void {
    const leaving = Promise.withResolvers<void>();
    const enter = () => {
      this.#atWork += 1;
      const timer = setTimeout(leaving.resolve, longestMs);
      leaving.promise.then(() => {
        clearTimeout(timer);
        this.#atWork -= 1;
        this.#beginAll();
      });
      begin();
    };
    const place = this.#waiting.findLastIndex((other) => other.since <= since) + 1;
    this.#waiting.splice(place, 0, { since, begin: enter });
    this.#beginAll();
    return () => leaving.resolve();
  }

  #beginAll(): void {
    while (this.#atWork < this.#size && this.#waiting.length > 0) this.#beginNext();
    if (this.#waiting.length > 0) this.#look();
  }

  #beginNext(): void {
    this.#waiting.shift()?.begin();
    if (this.#waiting.length > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** While something waits. */
  #look(): void {
    if (this.#looking) return;
    let before = this.#times();
    this.#looking = setInterval(() => {
      const now = this.#times();
      const isIdle = now.idleMs - before.idleMs > idleShare * (now.allMs - before.allMs);
      before = now;
      if (isIdle) this.#beginNext();
    }, lookMs);
  }
}

function processorTimes(): ProcessorTimes {
  const sum = { idleMs: 0, allMs: 0 };
  for (const { times } of cpus()) {
    sum.idleMs += times.idle;
    sum.allMs += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return sum;
}
