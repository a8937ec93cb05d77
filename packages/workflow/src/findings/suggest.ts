import { closest, distance } from "fastest-levenshtein";

/** ` - did you mean "read"?`, or nothing if no candidate is near: a wild guess is worse than none. */
export function didYouMean(wrong: string, candidates: readonly string[]): string {
  const found = nearest(wrong, candidates);
  return found === undefined ? "" : ` - did you mean "${found}"?`;
}

/** Above this many candidates only case is forgiven: thousands of wrong ids in a large graph must not take minutes. */
const comparable = 2_000;

export function nearest(wrong: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const lower = wrong.toLowerCase();
  const sameLetters = candidates.find((candidate) => candidate.toLowerCase() === lower);
  if (sameLetters !== undefined || candidates.length > comparable) return sameLetters;
  const found = closest(wrong, candidates);
  const length = Math.max(wrong.length, found.length);
  const allowed = Math.min(Math.max(2, Math.floor(length / 3)), Math.floor(length / 2));
  return distance(wrong, found) <= allowed ? found : undefined;
}
