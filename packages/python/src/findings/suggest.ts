import { closest, distance } from "fastest-levenshtein";

const maxListed = 8;

/** Returns `did you mean "total"?` if a similar key exists, or else a list of the existing keys. */
export function suggestInstead(wrong: string, keys: readonly string[]): string {
  const near = findNearest(wrong, keys);
  if (near !== undefined) return `did you mean "${near}"?`;
  if (keys.length === 0) return "it is empty, so set the key first";
  const rest = keys.length > maxListed ? ` and ${keys.length - maxListed} more` : "";
  return `it has ${keys.slice(0, maxListed).join(", ")}${rest}`;
}

export function findNearest(wrong: string, keys: readonly string[]): string | undefined {
  const same = keys.find((key) => plain(key) === plain(wrong));
  if (same !== undefined || keys.length === 0) return same;
  const found = closest(wrong, keys);
  const length = Math.max(wrong.length, found.length);
  const allowed = length < 5 ? 1 : Math.max(2, Math.floor(length / 3));
  if (distance(wrong, found) <= allowed) return found;
  return keys.find((key) => key.length > 3 && (wrong.includes(key) || (key.includes(wrong) && wrong.length > 3)));
}

/** Returns whether a key is a misspelling. `price_1` and `price_2` are different keys, and so are plurals. */
export function isSlip(wrong: string, right: string): boolean {
  if (plain(wrong) === plain(right)) return true;
  const [ours, theirs] = [wordsOf(wrong), wordsOf(right)];
  if (ours.length !== theirs.length) return false;
  const differing = ours.flatMap((word, index) => (word === theirs[index] ? [] : [[word, theirs[index] as string]]));
  return differing.length === 1 && differing.every(([word = "", other = ""]) => isWordSlip(word, other));
}

/**
 * Returns whether a key is certainly a misspelling and not another word. It is a misspelling if no letter is replaced
 * by another (as in `date` for `data`), and if one word has five letters or more.
 */
export function isSureSlip(wrong: string, right: string): boolean {
  if (!isSlip(wrong, right) || plain(wrong) === plain(right)) return false;
  const isReplaced = wrong.length === right.length && [...wrong].sort().join() !== [...right].sort().join();
  return !isReplaced && Math.max(...wordsOf(right).map((word) => word.length)) >= 5;
}

export interface NearKey {
  near?: string;
  isSlip: boolean;
}

export function findNearKey(wrong: string, keys: readonly string[]): NearKey {
  const near = findNearest(wrong, keys);
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
