import { cancelExecution, interruptedError, type Ports } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** An actor who acts once on a run, at any time at which this act is possible. */
export interface Meddler {
  name: string;
  chance: number;
  possible: () => boolean;
  act: () => void;
}

/**
 * Returns the actors that may disturb a run: users who cancel it, sweepers, EventBridge, deaths of sandboxes, and stops
 * of the execution in Step Functions.
 */
export function meddlers(
  world: World,
  workflow: Workflow,
  random: Random,
  deaths: number,
  sweep: (ports: Ports) => Promise<void>,
): Meddler[] {
  const id = () => world.executions.records.keys().next().value as string;
  const isKnown = () => world.executions.records.size > 0;
  const machines = () => Array.from(world.machines.values());
  const isOver = () => machines().some(({ status }) => status !== "running");
  const speed = () => random.pick([1, 1, 0.2]);
  const end = (status: "aborted" | "timed_out", error?: string) => () => {
    for (const run of machines()) run.end(status, error ? { Error: error, Cause: "" } : undefined);
  };
  const cancel = (execution: string) =>
    void world.spawn("cancel", (ports) => cancelExecution(ports, execution), speed());
  const last = () => Array.from(world.executions.records.keys()).at(-1) as string;
  const sweeping = () => void world.spawn("sweeper", sweep, speed());
  const death: Omit<Meddler, "chance"> = {
    name: "fate",
    possible: () => world.sandboxes.alive().length > 0,
    act: () => world.sandboxes.kill(random.pick(world.sandboxes.alive()).id),
  };
  return [
    { name: "somebody", chance: 0.2, possible: isKnown, act: () => cancel(id()) },
    { name: "somebody else", chance: 0.1, possible: isKnown, act: () => cancel(last()) },
    { name: "schedule", chance: 0.3, possible: isKnown, act: sweeping },
    { name: "second schedule", chance: 0.15, possible: isKnown, act: sweeping },
    { ...death, chance: deaths },
    { ...death, chance: deaths / 2 },
    { ...death, chance: deaths / 2 },
    { name: "EventBridge", chance: 0.3, possible: isOver, act: () => void world.tellEnded(id()) },
    { name: "owner", chance: 0.04, possible: () => machines().length > 0, act: end("aborted", interruptedError) },
    {
      name: "console",
      chance: 0.05,
      possible: () => machines().length > 1,
      act: () => random.pick(machines()).end("aborted"),
    },
    {
      name: "time limit",
      chance: workflow.timeoutSeconds ? 0.5 : 0,
      possible: () => machines().length > 0,
      act: end("timed_out"),
    },
  ];
}

/**
 * Weights of processes for the scheduler. Most processes have equal weights. A process with a small weight is so slow
 * that all others overtake it.
 */
export const weights = [1, 1, 1, 0.3, 0.05];

/** The number and the probabilities of the faults in a simulation, and the speed of its code. */
export interface Temper {
  faults: number;
  faultChance: number;
  /** The probability that a sandbox ends without a kill, as if its machine died. */
  deaths: number;
  /** The probability that a task is delivered twice at the same time. */
  twiceChance: number;
  stallChance: number;
  /** The largest number of simulated steps of work in one run of code. */
  longestCode: number;
  codeWeights: number[];
}

export function temperOf(random: Random): Temper {
  return {
    faults: random.pick([0, 0, 1, 2, 4, 8, 12]),
    faultChance: random.pick([0.02, 0.1, 0.3]),
    deaths: random.pick([0, 0.1, 0.9]),
    twiceChance: random.pick([0.05, 0.2, 0.6]),
    stallChance: random.pick([0, 0.03, 0.1]),
    longestCode: random.pick([3, 3, 15]),
    codeWeights: weights,
  };
}

/**
 * The settings of a third of all simulations. They have only one fault, but many double deliveries, processes that
 * stall, and slow code in sandboxes that often die.
 */
export const harsh: Temper = {
  faults: 1,
  faultChance: 0.1,
  deaths: 0.9,
  twiceChance: 0.9,
  stallChance: 0.1,
  longestCode: 15,
  codeWeights: [0.1, 0.3],
};
