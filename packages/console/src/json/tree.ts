import { listElements, listMembers, readKind, readString } from "./raw.ts";

/** A value at the top of a tree. A value without a key is the only value of its tree. */
export interface Root {
  key?: string | undefined;
  text: string;
  /** Number of levels that start unfolded. */
  open: number;
  /** CSS class of the rows of this value. */
  look?: string | undefined;
  /** A word beside the key. */
  note?: string | undefined;
}

/** The place of a value in a tree. */
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
  /** Whether the search has found the name or the value. */
  isFound: boolean;
  /** Whether the row stands for members that are not listed yet. */
  isRest: boolean;
}

/** The choices of the user that decide which rows appear. */
export interface Shown {
  /** The paths that the user has folded or unfolded. */
  toggled: ReadonlyMap<string, boolean>;
  /** How many members are listed, by the path of their object or list. */
  counts: ReadonlyMap<string, number>;
  query: string;
}

/** Number of members that are listed before the user scrolls to the last of them. */
export const initialCount = 100;
/** Objects and lists with more characters start folded, so that the members after them stay visible. */
const longestOpen = 1_500;
const mostFound = 500;

/** Creates a function that lists the rows of a tree. A folded value is not even split into its members. */
export function createTree(roots: readonly Root[]): (shown: Shown) => Row[] {
  const known = new Map<string, Place[]>();

  /** Splits an object or a list. The result is kept, because every change of the tree lists the rows again. */
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

  /** Lists the rows that contain the text, and the objects and lists around them. */
  function find(place: Place, found: { pattern: RegExp; left: number }, shown: Shown): Row[] {
    const { name, text, path } = place;
    const isValue = !isBranch(text);
    const isFound = found.pattern.test(name ?? "") || (isValue && found.pattern.test(readString(text) ?? text));
    if (found.left <= 0) return [];
    if (isFound) found.left -= 1;
    if (isValue) return isFound ? [createRow(place, { isFound })] : [];
    // A text with an escape may contain the searched text in another form.
    const mayContain = found.pattern.test(text) || text.includes("\\");
    const inside =
      mayContain && shown.toggled.get(path) !== false
        ? split(place, Number.POSITIVE_INFINITY).flatMap((member) => find(member, found, shown))
        : [];
    if (!isFound && inside.length === 0) return [];
    // The members of a found object need not contain the text. The user may unfold them.
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
 * Returns whether a value has members. A reference to a blob counts as one value; the record escapes a user's own key
 * `$blob`.
 */
function isBranch(text: string): boolean {
  return isList(text) || (readKind(text) === "object" && !text.startsWith('{"$blob":'));
}

function createRow(place: Place, more: Partial<Row>): Row {
  return { ...place, isOpen: undefined, isList: false, isFound: false, isRest: false, ...more };
}
