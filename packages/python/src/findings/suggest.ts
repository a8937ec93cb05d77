import { closest, distance } from "fastest-levenshtein";

const maxListed = 8;

/** `did you mean "total"?`, else what there is instead. */
export function insteadOf(wrong: string, keys: readonly string[]): string {
  const near = nearest(wrong, keys);
  if (near !== undefined) return `did you mean "${near}"?`;
  if (keys.length === 0) return "it is empty, so set the key first";
  const rest = keys.length > maxListed ? ` and ${keys.length - maxListed} more` : "";
  return `it has ${keys.slice(0, maxListed).join(", ")}${rest}`;
}

export function nearest(wrong: string, keys: readonly string[]): string | undefined {
  const same = keys.find((key) => plain(key) === plain(wrong));
  if (same !== undefined || keys.length === 0) return same;
  const found = closest(wrong, keys);
  const length = Math.max(wrong.length, found.length);
  const allowed = length < 5 ? 1 : Math.max(2, Math.floor(length / 3));
  if (distance(wrong, found) <= allowed) return found;
  return keys.find((key) => key.length > 3 && (wrong.includes(key) || (key.includes(wrong) && wrong.length > 3)));
}

/**
 * Whether a key is a slip of the pen rather than another key: written with other capitals or dashes, or one word of it
 * has a letter too many, too few, wrong, or two swapped. `price_1` and `price_2` are two keys, so are plurals.
 */
export function isSlip(wrong: string, right: string): boolean {
  if (plain(wrong) === plain(right)) return true;
  const [ours, theirs] = [wordsOf(wrong), wordsOf(right)];
  if (ours.length !== theirs.length) return false;
  const differing = ours.flatMap((word, index) => (word === theirs[index] ? [] : [[word, theirs[index] as string]]));
  return differing.length === 1 && differing.every(([word = "", other = ""]) => isWordSlip(word, other));
}

/**
 * A slip that makes no other word: a letter is missing, doubled or swapped in a word of five letters or more. `date` may
 * be asked for beside `data`.
 */
export function isSureSlip(wrong: string, right: string): boolean {
  if (!isSlip(wrong, right) || plain(wrong) === plain(right)) return false;
  const isReplaced = wrong.length === right.length && [...wrong].sort().join() !== [...right].sort().join();
  return !isReplaced && Math.max(...wordsOf(right).map((word) => word.length)) >= 5;
}

export interface NearKey {
  /** Absent: no key is near. */
  near?: string;
  /** The key is a slip of the pen for the near one, and makes no other word. */
  isSlip: boolean;
}

export function nearKey(wrong: string, keys: readonly string[]): NearKey {
  const near = nearest(wrong, keys);
  return near === undefined ? { isSlip: false } : { near, isSlip: isSureSlip(wrong, near) };
}

function isWordSlip(word: string, other: string): boolean {
  if (Math.min(word.length, other.length) < 4 || /\d/.test(word + other)) return false;
  if (`${word}s` === other || `${other}s` === word) return false;
  const isSwapped = distance(word, other) === 2 && [...word].sort().join() === [...other].sort().join();
  return isSwapped || distance(word, other) === 1;
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[-_ ]/g, "");
}

function wordsOf(key: string): string[] {
  return key
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[-_ .]+/);
}
