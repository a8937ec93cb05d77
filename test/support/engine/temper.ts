import type { Random } from "./random.ts";

/** Speeds of processes: most are equal, and some are so slow that all others overtake them. */
export const weights = [1, 1, 1, 0.3, 0.05];

/** The frequency of faults and the speeds in the world of a run. */
export interface Temper {
  faults: number;
  faultChance: number;
  /** The probability that a sandbox dies without a kill. */
  deaths: number;
  /** The probability that a task is delivered twice at the same time. */
  twiceChance: number;
  stallChance: number;
  /** The maximum number of calls of one code run. */
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
 * The conditions of every third run: few faults at the most harmful moments, double deliveries, and slow code in
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
