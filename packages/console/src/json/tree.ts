import { listElements, listMembers, readKind, readString } from "./raw.ts";

/** A value at the top level of a tree. If this value has no key, it is the only value at the top level. */
export interface Root {
  key?: string | undefined;
  text: string;
  /** Number of levels that start unfolded. */
  open: number;
  /** CSS class of the rows of this value. */
  look?: string | undefined;
  /** A word that the page shows beside the key. */
  note?: string | undefined;
}

/** A value in a tree, with its path and its depth. */
interface Place {
  path: string;
  depth: number;
  name: string | undefined;
  text: string;
  root: Root;
}

/** A row of a tree. */
export interface Row extends Place {
  /** Whether an object or a list is unfolded; undefined for other values. */
  isOpen: boolean | undefined;
  isList: boolean;
  /** Whether the name or the value matches the search. */
  isFound: boolean;
  /** Whether the row stands for members that are not listed yet. */
  isRest: boolean;
}

/** The choices of the user that decide which rows appear. */
export interface Shown {
  /** The paths that the user has folded or unfolded. */
  toggled: ReadonlyMap<string, boolean>;
  /** How many members of an object or a list are listed, by the path of this object or list. */
  counts: ReadonlyMap<string, number>;
  query: string;
}

/**
 * Number of members of an object or a list that are listed at first. More appear when the user scrolls to the last one.
 */
export const initialCount = 100;
/** An object or a list with more characters of JSON starts folded, so that the values after it stay visible. */
const longestOpen = 1_500;
const mostFound = 500;

/** Creates a function that lists the rows of a tree. The function does not split folded values into their members. */
export function createTree(roots: readonly Root[]): (shown: Shown) => Row[] {
  const known = new Map<string, Place[]>();

  /**
   * Splits an object or a list into its members. Keeps the result, because every change of the tree lists the rows
   * again.
   */
  function split(place: Place, max: number): Place[] {
    const key = `${max} ${place.path}`;
    const before = known.get(key);
    if (before) return before;
    const { path, depth, text, root } = place;
    const members = isList(text)
      ? listElements(text, max).map((value, index) => ({ key: String(index), text: value }))
      : listMembers(text, max);
    const inside = members.map((one) => {
      return { path: `${path}\n${one.key}`, depth: depth + 1, name: one.key, text: one.text, root };
    });
    known.set(key, inside);
    return inside;
  }

  function list(place: Place, shown: Shown): Row[] {
    const { path, text, name, depth, root } = place;
    if (!isBranch(text)) return [createRow(place, {})];
    const starts = root.open > depth && (name === undefined || text.length <= longestOpen);
    const isOpen = text.length > 2 && (shown.toggled.get(path) ?? starts);
    const row = createRow(place, { isOpen, isList: isList(text) });
    if (!isOpen) return [row];
    const count = shown.counts.get(path) ?? initialCount;
    const members = split(place, count + 1);
    const rest = members.length > count ? [createRow({ ...place, depth: depth + 1 }, { isRest: true })] : [];
    return [row, ...members.slice(0, count).flatMap((member) => list(member, shown)), ...rest];
  }

  /** Lists the rows that match the search, and the rows of the objects and lists that contain them. */
  function find(place: Place, found: { pattern: RegExp; left: number }, shown: Shown): Row[] {
    const { name, text, path } = place;
    const isValue = !isBranch(text);
    const isFound = found.pattern.test(name ?? "") || (isValue && found.pattern.test(readString(text) ?? text));
    if (found.left <= 0) return [];
    if (isFound) found.left -= 1;
    if (isValue) return isFound ? [createRow(place, { isFound })] : [];
    // JSON with a backslash may contain the searched text in an escaped form.
    const mayContain = found.pattern.test(text) || text.includes("\\");
    const inside =
      mayContain && shown.toggled.get(path) !== false
        ? split(place, Number.POSITIVE_INFINITY).flatMap((member) => find(member, found, shown))
        : [];
    if (!isFound && inside.length === 0) return [];
    // An object may match only by its name. If the user unfolds this object, lists all its members.
    if (inside.length === 0 && shown.toggled.get(path)) return list(place, shown);
    return [createRow(place, { isFound, isOpen: inside.length > 0, isList: isList(text) }), ...inside];
  }

  return (shown) => {
    const query = shown.query.trim();
    const pattern = new RegExp(query.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
    const found = { pattern, left: mostFound };
    return roots.flatMap((root, index) => {
      const place = { path: String(index), depth: 0, name: root.key, text: root.text, root };
      return query === "" ? list(place, shown) : find(place, found, shown);
    });
  };
}

function isList(text: string): boolean {
  return readKind(text) === "list";
}

/**
 * Returns whether a value has members. A reference to a blob counts as one value. A user's own key `$blob` is no such
 * reference, because the chain of work stores this key as `$$blob`.
 */
function isBranch(text: string): boolean {
  return isList(text) || (readKind(text) === "object" && !text.startsWith('{"$blob":'));
}

function createRow(place: Place, more: Partial<Row>): Row {
  return { ...place, isOpen: undefined, isList: false, isFound: false, isRest: false, ...more };
}
