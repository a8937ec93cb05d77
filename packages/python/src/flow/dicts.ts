import type { Program } from "../scope/program.ts";
import type { Expression, Node } from "../tree/nodes.ts";
import { keyOf } from "./paths.ts";

export interface KnownEntry {
  key: string;
  value: Expression;
}

const deepest = 5;

/**
 * Every entry that a dict can have, where the code spells all of them out: in braces, by `updates["key"] = ...`, by a
 * name for such a dict. Undefined where it may have others.
 */
export function knownEntries(program: Program, dict: Expression, depth = 0): KnownEntry[] | undefined {
  if (depth > deepest) return undefined;
  if (dict.kind === "dict") return spelt(program, dict, depth);
  if (dict.kind !== "name") return undefined;
  const bindings = program.reaching(dict);
  const stored = storedIn(program, dict.id);
  if (!stored || bindings.length === 0) return undefined;
  const all = bindings.map(({ origin }) =>
    origin.kind === "value" ? knownEntries(program, origin.value, depth + 1) : undefined,
  );
  return all.every((entries) => entries !== undefined) ? [...all.flat(), ...stored] : undefined;
}

function spelt(program: Program, dict: Expression & { kind: "dict" }, depth: number): KnownEntry[] | undefined {
  const found: KnownEntry[] = [];
  for (const { key, value } of dict.entries) {
    const name = key ? keyOf(key) : undefined;
    const inner = key ? undefined : knownEntries(program, value, depth + 1);
    if (name !== undefined && name !== "[]") found.push({ key: name, value });
    else if (inner) found.push(...inner);
    else return undefined;
  }
  return found;
}

/** What is put into the value of a name by its key; undefined where it gets anything in another way. */
function storedIn(program: Program, id: string): KnownEntry[] | undefined {
  const found: KnownEntry[] = [];
  for (const node of program.nodes) {
    if (node.kind !== "name" || node.id !== id || node.stores) continue;
    const { parent } = node;
    if (!parent || !isSeen(program, node, parent)) return undefined;
    if (parent.kind !== "subscript" || parent.object !== node) continue;
    const key = keyOf(parent.index);
    if (key === undefined || key === "[]") return undefined;
    const statement = parent.parent;
    const isStore = statement?.kind === "assign" && statement.targets.includes(parent);
    // What is read may be changed where it comes to: `updates["rows"].append(...)`.
    found.push({ key, value: isStore && statement.value ? statement.value : parent });
  }
  return found;
}

/** A use of a dict's name behind which nothing can get into it unseen. */
function isSeen(program: Program, name: Node, parent: Node): boolean {
  if (parent.kind === "attribute") return /^(get|keys|values|items|copy)$/.test(parent.name);
  if (parent.kind !== "argument") return /^(subscript|binary|dict|format|for|comprehension)$/.test(parent.kind);
  const call = parent.parent;
  if (call?.kind !== "call" || parent.value !== name) return false;
  const isUpdate = call.callee.kind === "attribute" && call.callee.name === "update";
  return (
    isUpdate ||
    /^(json\.dumps?|builtins\.(print|len|dict|sorted|list|str))$/.test(program.importPath(call.callee) ?? "")
  );
}
