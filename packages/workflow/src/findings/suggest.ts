import { closest, distance } from "fastest-levenshtein";

/** ` - did you mean "read"?`, or nothing if no candidate is near: a wild guess is worse than none. */
export function didYouMean(wrong: string, candidates: readonly string[]): string {
  const found = nearest(wrong, candidates);
  return found === undefined ? "" : ` - did you mean "${found}"?`;
}

export function nearest(wrong: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const lower = wrong.toLowerCase();
  const found = candidates.find((candidate) => candidate.toLowerCase() === lower) ?? closest(wrong, candidates);
  const length = Math.max(wrong.length, found.length);
  const allowed = Math.min(Math.max(2, Math.floor(length / 3)), Math.floor(length / 2));
  return found.toLowerCase() === lower || distance(wrong, found) <= allowed ? found : undefined;
}
