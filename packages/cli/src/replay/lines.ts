import type { Difference } from "@nova/engine";
import { differenceLines } from "../output/diff.ts";
import { styled } from "../output/terminal.ts";
import { cell } from "../output/text.ts";

/** A node whose code ran again. */
export interface Replayed {
  place: string;
  differences: Difference[];
  /** Keys of secrets, which the code did not get. */
  withheld: string[];
}

/** A node whose recorded outcome is kept, with the reason. */
export interface Kept {
  place: string;
  why: string;
}

/** Describes the differences, then the number of compared runs. */
export function replayLines(replayed: readonly Replayed[], kept: readonly Kept[]): string[] {
  const differing = replayed.filter(({ differences }) => differences.length > 0);
  const count = `${replayed.length} ${replayed.length === 1 ? "run" : "runs"} of code`;
  const places = Map.groupBy(kept, ({ why }) => why);
  return [
    ...differing.flatMap(({ place, differences, withheld }) => [
      styled("bold", place) + (withheld.length > 0 ? styled("dim", ` (without ${withheld.join(", ")})`) : ""),
      ...differenceLines(differences),
    ]),
    differing.length === 0
      ? `${styled("green", "the same")}: the recorded outcome in ${count}`
      : `${styled("red", "differs")}: ${differing.length} of ${count}`,
    ...Array.from(places, ([why, all]) =>
      styled("dim", `from the record, ${why}: ${cell(all.map(({ place }) => place).join(", "))}`),
    ),
  ];
}
