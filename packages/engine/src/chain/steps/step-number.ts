import type { StoredStep, Turn } from "../../ports/chain.ts";
import { pinnedPlaces } from "../../ports/pipeline.ts";
import { isEnding } from "./step-record.ts";

/** Each attempt of a turn has step numbers of its own: late deliveries disturb no later attempt. */
const stepsPerAttempt = 1000;
/** From here on are notes: what only deliveries of the same node want to know. No entry lists them. */
const firstNote = 5000;

/** Among `kept`: the attempt ended there, and the next one has a journal of its own. */
export const anew = -1;

/** Whether pinned code runs there, or the analysis in front of it. */
export function isPinnedPlace(place: number): boolean {
  return place === pinnedPlaces.code || place === pinnedPlaces.analysis;
}

type Moves = Pick<Turn, "kept">;

/** Number of the step at a place of the journal, from 1. */
export function stepNumber({ kept = [] }: Moves, place: number): number {
  const first = kept.lastIndexOf(anew) + 1;
  const moves = kept.slice(first).findIndex((count) => place <= count);
  return (moves < 0 ? kept.length : first + moves) * stepsPerAttempt + place;
}

/** Number of what a whole attempt came to, behind its steps. */
export function attemptNumber({ kept = [] }: Moves): number {
  return (kept.length + 1) * stepsPerAttempt - 1;
}

export function noteNumber(turn: Moves, place: number): number {
  return firstNote + stepNumber(turn, place);
}

/** What is recorded of the attempts before this one, in order. */
export function earlierSteps({ kept = [] }: Moves, stored: readonly StoredStep[]): StoredStep[] {
  return kept.flatMap((count, move) => {
    if (count !== anew) return [];
    const turn = { kept: kept.slice(0, move) };
    return [...journalOf(turn, stored), ...stored.filter(({ step }) => step === attemptNumber(turn))];
  });
}

/** The steps that count, in order. */
export function journalOf(turn: Moves, stored: readonly StoredStep[]): StoredStep[] {
  const byNumber = new Map(stored.map((step) => [step.step, step]));
  const steps: StoredStep[] = [];
  for (;;) {
    const step = byNumber.get(stepNumber(turn, steps.length + 1));
    if (!step || isEnding(step)) return steps;
    steps.push(step);
  }
}
