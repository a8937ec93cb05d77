import { availableParallelism, cpus } from "node:os";

/** How often it is looked whether processors idle while something waits. */
const lookMs = 50;
/** A share of all processors' time: where more is left, another one begins. */
const idleShare = 0.2;
/** What is at work for so long keeps nobody waiting any more. */
const longestMs = 2_000;
/** Nothing is held back for longer. */
const longestHoldMs = 5_000;

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
export class Capacity<Key> {
  readonly #size: number;
  readonly #times: () => ProcessorTimes;
  readonly #waiting: { since: number; begin: () => void }[] = [];
  /** How each that is in, or waits for it, leaves. */
  readonly #leaving = new Map<Key, () => void>();
  #atWork = 0;
  #holds = 0;
  #heldSince = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(size = 2 * availableParallelism(), times = processorTimes) {
    this.#size = size;
    this.#times = times;
  }

  /** Resolves when it is in, or has left; undefined where it is at once. `since` says how old it is. */
  enter(key: Key, since: number): Promise<void> | undefined {
    if (this.#leaving.has(key)) return undefined;
    const entered = Promise.withResolvers<void>();
    let isIn = false;
    const left = Promise.withResolvers<void>();
    this.#leaving.set(key, () => left.resolve());
    const begin = () => {
      isIn = true;
      entered.resolve();
      this.#stay(left);
    };
    const place = this.#waiting.findLastIndex((other) => other.since <= since) + 1;
    this.#waiting.splice(place, 0, { since, begin });
    this.#beginAll();
    return isIn ? undefined : Promise.race([entered.promise, left.promise]);
  }

  leave(key: Key): void {
    this.#leaving.get(key)?.();
    this.#leaving.delete(key);
  }

  /** What waits begins only once all who hold it back have let go: requests to start more are answered first. */
  hold(): () => void {
    if (this.#holds++ === 0) this.#heldSince = Date.now();
    return () => {
      this.#holds -= 1;
      this.#beginAll();
    };
  }

  get #isHeld(): boolean {
    return this.#holds > 0 && Date.now() - this.#heldSince < longestHoldMs;
  }

  async #stay({ promise, resolve }: PromiseWithResolvers<void>): Promise<void> {
    this.#atWork += 1;
    const timer = setTimeout(resolve, longestMs).unref();
    await promise;
    clearTimeout(timer);
    this.#atWork -= 1;
    this.#beginAll();
  }

  #beginAll(): void {
    while (this.#atWork < this.#size && this.#waiting.length > 0 && !this.#isHeld) this.#beginNext();
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
      if (isIdle && !this.#isHeld) this.#beginNext();
    }, lookMs).unref();
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
