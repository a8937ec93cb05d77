import type { Random } from "./random.ts";

/** Speeds of processes: most alike, some so slow that everything else overtakes them. */
export const weights = [1, 1, 1, 0.3, 0.05];

/** What a run's world is like. */
export interface Temper {
  faults: number;
  faultChance: number;
  /** How likely sandboxes die of themselves. */
  deaths: number;
  /** How likely a task is delivered twice at the same time. */
  twiceChance: number;
  stallChance: number;
  /** Calls that code takes, and how fast it takes them. */
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

/** Every third run: few faults where they do the most harm, two of everything, slow code in sandboxes that die. */
export const harsh: Temper = {
  faults: 1,
  faultChance: 0.1,
  deaths: 0.9,
  twiceChance: 0.9,
  stallChance: 0.1,
  longestCode: 15,
  codeWeights: [0.1, 0.3],
};
