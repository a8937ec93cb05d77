import { availableParallelism, cpus } from "node:os";
import { type LineOwner, Turns } from "./turns.ts";

/** The interval of checks for idle processors while a line waits. */
const lookMs = 50;
/** The share of idle time from which more lines start. */
const idleShare = 0.2;
/** The most lines that start at one check. Each check that finds idle processors doubles the number. */
const mostAtOnce = 16;
/** A line that has worked for this long no longer blocks others. */
const longestMs = 2_000;
/** The longest time that lines are held back. */
const longestHoldMs = 1_500;

/** The times of all processors since the machine started. */
export interface ProcessorTimes {
  idleMs: number;
  allMs: number;
}

/**
 * Keeps as many lines at work as the machine has processors for. A hundred executions that start together need a few
 * sandboxes one after another, not a hundred at once. A map of thousands of items leaves time for other owners, other
 * executions and the API. Lines that wait for a server or a clock leave processors idle; then more lines start.
 */
export class Capacity<Line> {
  readonly #size: number;
  readonly #times: () => ProcessorTimes;
  readonly #turns = new Turns();
  /** How each working or waiting line leaves. */
  readonly #leaving = new Map<Line, () => void>();
  #atWork = 0;
  #holds = 0;
  #heldSince = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(size = 2 * availableParallelism(), times = processorTimes) {
    this.#size = size;
    this.#times = times;
  }

  /** Resolves when the line may work, or has left; undefined if it may work immediately. */
  enter(line: Line, place: LineOwner): Promise<void> | undefined {
    if (this.#leaving.has(line)) return undefined;
    const entered = Promise.withResolvers<void>();
    let isIn = false;
    const left = Promise.withResolvers<void>();
    this.#leaving.set(line, () => left.resolve());
    this.#turns.wait(place, () => {
      isIn = true;
      entered.resolve();
      this.#stay(place, left);
    });
    this.#beginAll();
    return isIn ? undefined : Promise.race([entered.promise, left.promise]);
  }

  leave(line: Line): void {
    this.#leaving.get(line)?.();
    this.#leaving.delete(line);
  }

  /**
   * Holds back waiting lines until every holder has called its returned function, so that requests to start more are
   * answered first.
   */
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

  async #stay(place: LineOwner, { promise, resolve }: PromiseWithResolvers<void>): Promise<void> {
    this.#atWork += 1;
    this.#turns.began(place);
    const timer = setTimeout(resolve, longestMs).unref();
    await promise;
    clearTimeout(timer);
    this.#atWork -= 1;
    this.#turns.ended(place);
    this.#beginAll();
  }

  #beginAll(): void {
    while (this.#atWork < this.#size && this.#turns.waiting > 0 && !this.#isHeld) this.#beginNext();
    if (this.#turns.waiting > 0) this.#look();
  }

  #beginNext(): void {
    this.#turns.next()?.();
    if (this.#turns.waiting > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Checks for idle processors while a line waits. */
  #look(): void {
    if (this.#looking) return;
    let before = this.#times();
    let more = 1;
    this.#looking = setInterval(() => {
      const now = this.#times();
      const isIdle = now.idleMs - before.idleMs > idleShare * (now.allMs - before.allMs);
      before = now;
      if (!isIdle || this.#isHeld) {
        more = 1;
        return;
      }
      for (let begun = 0; begun < more && this.#turns.waiting > 0; begun++) this.#beginNext();
      more = Math.min(2 * more, mostAtOnce);
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
