import { availableParallelism, cpus } from "node:os";
import { type LineOwner, Turns } from "./turns.ts";

/**
 * The interval between two checks for idle processors while lines wait. A line is a sequence of states of an execution:
 * the main sequence, a branch, or an iteration of a Map.
 */
const lookMs = 50;
/** Processors count as idle if they were idle for more than this share of the time. Then more lines start. */
const idleShare = 0.2;
/**
 * The largest number of lines that start at one check. The first check that finds idle processors starts one line. If
 * the next checks find idle processors, too, each of them starts twice as many lines as the check before it.
 */
const mostAtOnce = 16;
/**
 * A line that has worked for this time no longer counts towards the limit, so another line may start. The line
 * continues to work.
 */
const longestMs = 2_000;
/** The longest time for which holds keep lines from starting. */
const longestHoldMs = 1_500;
/** A burst of requests that start executions is over if no such request arrives for this time. */
const burstGapMs = 25;

/** The sum of the times of all processors since the machine started. */
export interface ProcessorTimes {
  idleMs: number;
  allMs: number;
}

/**
 * Limits how many lines work at the same time. The limit depends on the number of processors. So a hundred executions
 * that start together do not need a hundred sandboxes at once. And a Map with thousands of items leaves time for other
 * owners, other executions and the API. If processors are idle because the working lines wait for a server or a clock,
 * more lines start.
 */
export class Capacity<Line> {
  readonly #size: number;
  readonly #times: () => ProcessorTimes;
  readonly #turns = new Turns();
  /** For each line that works or waits: a function that ends its work or its wait. */
  readonly #leaving = new Map<Line, () => void>();
  #atWork = 0;
  readonly #holds = new Set<() => void>();
  /**
   * The start of the first present hold. In a burst, this is the first hold of the burst, although that hold may have
   * ended.
   */
  #heldSince = 0;
  /** The timer of the present burst; undefined if there is none. */
  #burst: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(size = 2 * availableParallelism(), times = processorTimes) {
    this.#size = size;
    this.#times = times;
  }

  /**
   * Asks whether `line` may work. Returns undefined if the line may work immediately. Otherwise the returned promise
   * resolves when the line may work, or when `leave` is called for the line.
   */
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
   * Keeps waiting lines from starting, so that a request is answered first. Returns a function that ends this hold. If
   * more lines wait than may work, a request that starts an execution is part of a burst. After such a request, lines
   * also wait for the next one.
   */
  hold({ startsExecution }: { startsExecution: boolean }): () => void {
    if (this.#holds.size === 0 && !this.#burst) this.#heldSince = Date.now();
    const end = () => {
      if (!this.#holds.delete(end)) return;
      if (startsExecution && this.#turns.waiting > this.#size) this.#continueBurst();
      this.#beginAll();
    };
    this.#holds.add(end);
    return end;
  }

  #continueBurst(): void {
    clearTimeout(this.#burst);
    this.#burst = setTimeout(() => {
      this.#burst = undefined;
      this.#beginAll();
    }, burstGapMs).unref();
  }

  get #isHeld(): boolean {
    return (this.#holds.size > 0 || this.#burst !== undefined) && Date.now() - this.#heldSince < longestHoldMs;
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

  /** Checks at intervals whether processors are idle, until no line waits any more. */
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
