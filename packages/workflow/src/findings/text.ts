import { closest, distance } from "fastest-levenshtein";

const step = /\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g;

/** `$.nodes` and 2, "timeout" -> `$.nodes[2].timeout`. */
export function at(path: string, ...segments: PropertyKey[]): string {
  return segments.reduce<string>((before, segment) => before + formatStep(segment), path);
}

/** Splits a path that `at` built. */
export function segmentsOf(path: string): (string | number)[] {
  return [...path.matchAll(step)].map(([, name, index, quoted]) =>
    name !== undefined ? name : index !== undefined ? Number(index) : JSON.parse(quoted ?? '""'),
  );
}

function formatStep(segment: PropertyKey): string {
  if (typeof segment === "number") return `[${segment}]`;
  const name = String(segment);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** Formats a value for a sentence. The user and password of an address are left out. */
export function formatValue(value: unknown): string {
  const text = (JSON.stringify(value) ?? "nothing").replaceAll(/:\/\/[^\s/"]*@/g, "://...@");
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** Returns ` - did you mean "read"?`, or an empty text if no candidate is near. */
export function didYouMean(wrong: string, candidates: readonly string[]): string {
  const found = nearest(wrong, candidates);
  return found === undefined ? "" : ` - did you mean "${found}"?`;
}

/** With more candidates, only case is ignored: thousands of wrong ids in a large graph must not take minutes. */
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
