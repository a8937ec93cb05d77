import type { Call, Callable, Program } from "../scope/program.ts";
import { ancestors, type Expression, type Node, walk } from "../tree/nodes.ts";
import { keyOf } from "./paths.ts";

interface KnownEntry {
  key: string;
  value: Expression;
}

const deepest = 5;

/**
 * Lists every entry that a dict can have, if the code spells all of them out: in braces, by `updates["key"] = ...`, or
 * by a name for such a dict. Undefined if it may have others.
 */
export function knownEntries(program: Program, dict: Expression, depth = 0): KnownEntry[] | undefined {
  if (depth > deepest) return undefined;
  if (dict.kind === "dict") return literalEntries(program, dict, depth);
  if (dict.kind === "call") return callEntries(program, dict, depth);
  if (dict.kind !== "name") return undefined;
  const bindings = program.reaching(dict);
  const stored = findStores(program, dict.id);
  if (!stored || bindings.length === 0) return undefined;
  const all = bindings.map(({ origin }) =>
    origin.kind === "value" ? knownEntries(program, origin.value, depth + 1) : undefined,
  );
  return all.every((entries) => entries !== undefined) ? [...all.flat(), ...stored] : undefined;
}

function literalEntries(
  program: Program,
  dict: Expression & { kind: "dict" },
  depth: number,
): KnownEntry[] | undefined {
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

/** The entries of `dict(total=1)`, or of the result of a function in the code. */
function callEntries(program: Program, call: Call, depth: number): KnownEntry[] | undefined {
  const { callee, args } = call;
  if (program.importPath(callee) === "builtins.dict") {
    const all = args.map(({ name, stars, value }) =>
      name !== null ? [{ key: name, value }] : stars === 1 ? undefined : knownEntries(program, value, depth + 1),
    );
    return all.every((entries) => entries !== undefined) ? all.flat() : undefined;
  }
  const answers = returnValues(program.functionOf(callee));
  const all = answers?.map((answer) => knownEntries(program, answer, depth + 1));
  return all?.every((entries) => entries !== undefined) ? all.flat() : undefined;
}

/** The values that a function can return; undefined if they are unknown. */
function returnValues(local: Callable | undefined): Expression[] | undefined {
  if (!local || local.kind === "lambda") return local && [local.body];
  if (local.decorators.length > 0) return undefined;
  const own = Array.from(walk(local.body)).filter(
    (node) => node.kind !== "return" || enclosingFunction(node) === local,
  );
  if (own.some(({ kind }) => kind === "yield")) return undefined;
  return own.flatMap((node) => (node.kind === "return" && node.value ? [node.value] : []));
}

function enclosingFunction(node: Node): Node | undefined {
  for (const ancestor of ancestors(node)) if (/^(function|lambda)$/.test(ancestor.kind)) return ancestor;
  return undefined;
}

/** The entries that `name["key"] = ...` adds to the dict of a name; undefined if it may change in another way. */
function findStores(program: Program, id: string): KnownEntry[] | undefined {
  const found: KnownEntry[] = [];
  for (const node of program.nodes) {
    if (node.kind !== "name" || node.id !== id || node.stores) continue;
    const { parent } = node;
    if (!parent || !isSafeUse(program, node, parent)) return undefined;
    if (parent.kind !== "subscript" || parent.object !== node) continue;
    const key = keyOf(parent.index);
    if (key === undefined || key === "[]") return undefined;
    const statement = parent.parent;
    const isStore = statement?.kind === "assign" && statement.targets.includes(parent);
    // Code may change a value that it reads: `updates["rows"].append(...)`.
    found.push({ key, value: isStore && statement.value ? statement.value : parent });
  }
  return found;
}

/** Whether this use of a dict's name cannot add entries unseen. */
function isSafeUse(program: Program, name: Node, parent: Node): boolean {
  if (parent.kind === "attribute") return /^(get|keys|values|items|copy)$/.test(parent.name);
  if (parent.kind !== "argument") return /^(subscript|binary|dict|format|for|comprehension|return)$/.test(parent.kind);
  const call = parent.parent;
  if (call?.kind !== "call" || parent.value !== name) return false;
  const isUpdate = call.callee.kind === "attribute" && call.callee.name === "update";
  const path = program.importPath(call.callee) ?? "";
  return isUpdate || /^(json\.dumps?|builtins\.(print|len|dict|sorted|list|str))$/.test(path);
}
