import { type Clock, systemClock } from "../../../packages/aws-local/src/clock.ts";
import type { InvokeLambda, LambdaResult } from "../../../packages/aws-local/src/lambda-types.ts";
import { createChildController } from "../../../packages/aws-local/src/states/asl/thread.ts";

/**
 * Invokes a function, like `InvokeLambda`. Calls `onBegin` when the function starts, because a delivery may have to
 * wait before that.
 */
export type InvokeObserved = (...call: [...Parameters<InvokeLambda>, onBegin?: () => void]) => Promise<LambdaResult>;

export interface ChaosOptions {
  seed: number;
  /** Returns random numbers in place of those that `seed` determines. */
  random?: () => number;
  /** Returns whether a function gets faults. By default every function does. */
  shouldTouch?(functionArn: string): boolean;
  clock?: Clock;
}

export interface Chaos {
  invokeLambda: InvokeLambda;
  /** Waits until every delivery has ended, including late ones. */
  settled(): Promise<void>;
}

/**
 * The latest time of a kill after the start of the function. Half of the kills happen within 30 ms, so that some kills
 * interrupt the function in the middle of its work, even on a fast machine.
 */
const LATEST_KILL_MS = 900;
const LATEST_DELIVERY_MS = 120;
/** The largest number of kills per task. A Retry with three attempts thus always succeeds. */
const KILLS_PER_TASK = 2;

type Delivery = "first" | "second";

interface Plan {
  /** When the second delivery starts: together with the first one, or `afterMs` after the first one has ended. */
  second: "together" | { afterMs: number };
  /** The delivery whose answer the caller receives. The answer of the other delivery is lost. */
  heard: Delivery;
  kill: { delivery: Delivery; afterMs: number } | undefined;
}

/** Invokes functions as AWS does at its worst: it delivers every task twice and kills some deliveries. */
export function withChaos(invokeLambda: InvokeObserved, options: ChaosOptions): Chaos {
  const { random = seeded(options.seed), shouldTouch = () => true, clock = systemClock } = options;
  const underway = new Set<Promise<unknown>>();
  const kills = new Map<string, number>();

  function drawPlan(task: string): Plan {
    const second = random() < 0.5 ? ("together" as const) : { afterMs: random() * LATEST_DELIVERY_MS };
    const heard = random() < 0.25 ? "second" : "first";
    const kill = {
      delivery: random() < 0.5 ? ("first" as const) : ("second" as const),
      afterMs: LATEST_KILL_MS ** random(),
    };
    const killed = kills.get(task) ?? 0;
    if (random() >= 0.25 || killed >= KILLS_PER_TASK) return { second, heard, kill: undefined };
    kills.set(task, killed + 1);
    return { second, heard, kill };
  }

  async function deliver(arn: string, payload: string, plan: Plan, delivery: Delivery, signal?: AbortSignal) {
    const { controller, release } = createChildController(signal ?? new AbortController().signal);
    const over = new AbortController();
    const onBegin = () => {
      if (plan.kill?.delivery === delivery) killAfter(plan.kill.afterMs, controller, over.signal, clock);
    };
    try {
      return await invokeLambda(arn, payload, controller.signal, onBegin);
    } finally {
      over.abort();
      release();
    }
  }

  function track(delivery: Promise<LambdaResult>): Promise<LambdaResult> {
    const ended = delivery.then(ignore, ignore);
    underway.add(ended);
    ended.then(() => underway.delete(ended));
    return delivery;
  }

  return {
    async invokeLambda(arn, payload, signal) {
      if (!shouldTouch(arn)) return invokeLambda(arn, payload, signal);
      const plan = drawPlan(`${arn} ${payload}`);
      const first = track(deliver(arn, payload, plan, "first", signal));
      const second = track(
        plan.second === "together"
          ? deliver(arn, payload, plan, "second", signal)
          : afterwards(first, plan.second.afterMs, clock).then(() => deliver(arn, payload, plan, "second")),
      );
      return plan.heard === "first" ? first : second;
    },
    async settled() {
      while (underway.size > 0) await Promise.all(underway);
    },
  };
}

async function killAfter(ms: number, victim: AbortController, over: AbortSignal, clock: Clock): Promise<void> {
  await clock.sleep(ms, over);
  if (!over.aborted) victim.abort();
}

async function afterwards(first: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  await first.then(ignore, ignore);
  await clock.sleep(ms);
}

/** Handles the end of a delivery whose answer the caller does not receive. */
function ignore(): void {
  return;
}

/** Returns a generator of random numbers (mulberry32) that gives the same numbers on every machine. */
function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
