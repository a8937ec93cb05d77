import { knownEntries } from "../flow/dicts.ts";
import { keyOf } from "../flow/paths.ts";
import { type Type, type UnfitType, unfitTypes } from "../known/types.ts";
import type { Program } from "../scope/program.ts";
import type { Expression, Node } from "../tree/nodes.ts";
import type { Types } from "./types.ts";

export interface Unfit {
  node: Node;
  /** The path below the checked value: `.lines[].price`. */
  path: string;
  what: string;
  cure: string;
}

const deepest = 6;

/** Finds the first part of a value that certainly cannot be stored. `forDumps`: that json.dumps rejects. */
export function findUnfit(program: Program, types: Types, value: Expression, forDumps = false): Unfit | undefined {
  return find(value, "", 0);

  function find(value: Expression, path: string, depth: number): Unfit | undefined {
    if (depth > deepest) return undefined;
    const type = types.of(value);
    if (isUnfit(type, forDumps)) {
      const [what, cure] = unfitTypes[type];
      return { node: value, path, what, cure };
    }
    switch (value.kind) {
      case "dict":
        return first(value.entries, (entry) => inEntry(entry, path, depth));
      case "list":
      case "tuple":
        return first(value.items, (item) => find(item, `${path}[]`, depth + 1));
      case "comprehension":
        if (value.key && isBadKey(value.key)) return keyProblem(value.key, path);
        return find(value.element, value.form === "dict" ? path : `${path}[]`, depth + 1);
      case "name":
        return inNamed(value, path, depth + 1);
      default:
        return undefined;
    }
  }

  function inEntry({ key, value }: { key: Expression | null; value: Expression }, path: string, depth: number) {
    if (key && isBadKey(key)) return keyProblem(key, path);
    const name = key ? keyOf(key) : undefined;
    return find(value, name === undefined ? path : `${path}.${name}`, depth + 1);
  }

  /** Checks a name for a literal list or dict, with everything that the code adds to it later. */
  function inNamed(name: Expression & { kind: "name" }, path: string, depth: number): Unfit | undefined {
    const [only, ...others] = program.reaching(name);
    if (only?.origin.kind !== "value" || others.length > 0) return undefined;
    const { value } = only.origin;
    const additions = program.loadsOf(name.id).flatMap((use) => (use === name ? [] : additionsBy(program, use)));
    if (additions.includes("unknown")) return undefined;
    const known = additions.filter((addition) => addition !== "unknown");
    if (value.kind === "list" || value.kind === "comprehension") {
      return find(value, path, depth) ?? first(known, (added) => find(added.value, `${path}[]`, depth));
    }
    const entries = [...(knownEntries(program, value) ?? []), ...known];
    const last = new Map(entries.map((entry) => [entry.key ?? "", entry.value]));
    return first(last, ([key, value]) => find(value, `${path}.${key}`, depth));
  }

  /** json.dumps accepts numbers and None as keys, but no other keys that are not texts. */
  function isBadKey(key: Expression): boolean {
    if (key.kind === "tuple" || key.kind === "bytes") return true;
    const type = types.of(key);
    if (type === "number" || type === "none") return !forDumps;
    return type === "datetime" || type === "date" || type === "Decimal" || type === "UUID" || type === "Path";
  }
}

/**
 * Values that `rows.append(x)` and `row["at"] = x` add to the value of a name; "unknown" if the use may change it in
 * other ways.
 */
function additionsBy(program: Program, use: Node): ({ key?: string; value: Expression } | "unknown")[] {
  const { parent } = use;
  const holder = parent?.parent;
  if (parent?.kind === "attribute" && parent.name === "append" && holder?.kind === "call") {
    return holder.args.map(({ value }) => ({ value }));
  }
  if (parent?.kind === "subscript" && parent.stores && holder?.kind === "assign" && holder.value) {
    const key = keyOf(parent.index);
    return key === undefined || key === "[]" ? ["unknown"] : [{ key, value: holder.value }];
  }
  const isRead = parent?.kind === "subscript" && !/^(attribute|delete|augment)$/.test(holder?.kind ?? "");
  const isHandedToPython =
    holder?.kind === "call" && /^(builtins|json)\./.test(program.importPath(holder.callee) ?? "");
  return isRead || isHandedToPython ? [] : ["unknown"];
}

function isUnfit(type: Type | undefined, forDumps: boolean): type is UnfitType {
  if (type === undefined || type === "dict" || type === "none" || type === "number") return false;
  return forDumps ? type !== "numpy number" && type !== "nan" : type !== "bytes";
}

function keyProblem(key: Node, path: string): Unfit {
  return { node: key, path, what: "a dict with keys that are no texts", cure: "use str(key) for its keys" };
}

function first<T>(items: Iterable<T>, look: (item: T) => Unfit | undefined): Unfit | undefined {
  for (const item of items) {
    const found = look(item);
    if (found) return found;
  }
  return undefined;
}
