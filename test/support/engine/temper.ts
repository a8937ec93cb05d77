import type { Random } from "./random.ts";

/**
 * Weights of processes for the scheduler: most are equal. A process with a small weight is so slow that all others
 * overtake it.
 */
export const weights = [1, 1, 1, 0.3, 0.05];

/** How often each fault happens in a simulation, and how fast its processes are. */
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
 * The values for every third simulation: few faults at the most harmful moments, double deliveries, and slow code in
 * sandboxes that die.
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
