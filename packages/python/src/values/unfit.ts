import { answersOf } from "../flow/dicts.ts";
import { keyOf } from "../flow/paths.ts";
import { madeBy, type Type, type UnfitType, unfitTypes } from "../known/types.ts";
import type { Call, Program } from "../scope/program.ts";
import type { Expression, Node } from "../tree/nodes.ts";
import { itemType } from "./items.ts";
import type { Types } from "./types.ts";

export interface Unfit {
  node: Node;
  /** Below the value that was asked about: `.lines[].price`. */
  path: string;
  what: string;
  cure: string;
}

const deepest = 6;

/** The first part of a value that certainly cannot be kept; `forDumps`: that json.dumps refuses. */
export function findUnfit(program: Program, types: Types, value: Expression, forDumps = false): Unfit | undefined {
  return new UnfitFinder(program, types, forDumps).find(value, "", 0);
}

class UnfitFinder {
  private readonly program: Program;
  private readonly types: Types;
  private readonly forDumps: boolean;

  constructor(program: Program, types: Types, forDumps: boolean) {
    this.program = program;
    this.types = types;
    this.forDumps = forDumps;
  }

  find(value: Expression, path: string, depth: number): Unfit | undefined {
    if (depth > deepest) return undefined;
    const type = this.types.of(value);
    if (this.isUnfit(type)) {
      const [what, cure] = unfitTypes[type];
      return { node: value, path, what, cure };
    }
    if (value.kind === "dict") return this.inEntries(value, path, depth);
    if (value.kind === "list" || value.kind === "tuple")
      return first(value.items, (item) => this.find(item, `${path}[]`, depth + 1));
    if (value.kind === "comprehension") return this.inComprehension(value, path, depth);
    if (value.kind === "binary" && value.op === "|") return this.find(value.right, path, depth + 1);
    if (value.kind === "call") return this.inAnswer(value, path, depth);
    return value.kind === "name" ? this.inNamed(value, path, depth) : undefined;
  }

  /** `dict(at=x)`, `list(paths)`, and what a function of the code always returns. */
  private inAnswer(call: Call, path: string, depth: number): Unfit | undefined {
    const made = this.program.importPath(call.callee);
    if (made === "builtins.dict") {
      const named = call.args.flatMap(({ name, value }) => (name === null ? [] : [{ name, value }]));
      const [copied] = call.args.filter(
        ({ name, stars, value }) => name === null && stars === 0 && value.kind === "name",
      );
      const unfit = first(named, ({ name, value }) => this.find(value, `${path}.${name}`, depth + 1));
      return unfit ?? (copied && named.length === 0 ? this.find(copied.value, path, depth + 1) : undefined);
    }
    if (made !== undefined && /^builtins\.(list|sorted|tuple)$/.test(made)) {
      const type = itemType(this.types, this.program, call);
      if (!this.isUnfit(type)) return undefined;
      const [what, cure] = unfitTypes[type];
      return { node: call, path: `${path}[]`, what, cure };
    }
    const [only, ...others] = answersOf(this.program.functionOf(call.callee)) ?? [];
    const unfit = only && others.length === 0 ? this.find(only, path, depth + 1) : undefined;
    return unfit && { ...unfit, node: call };
  }

  private isUnfit(type: Type | undefined): type is UnfitType {
    if (type === undefined || type === "dict" || type === "none" || type === "number") return false;
    return this.forDumps ? type !== "numpy number" && type !== "nan" : type !== "bytes";
  }

  private inEntries(
    dict: Expression & { kind: "dict" },
    path: string,
    depth: number,
    but = new Set<string>(),
  ): Unfit | undefined {
    return first(dict.entries, ({ key, value }) => {
      const name = key ? keyOf(key) : "";
      if (key && this.isBadKey(key)) return keyProblem(key, path);
      return name !== undefined && but.has(name)
        ? undefined
        : this.find(value, name ? `${path}.${name}` : path, depth + 1);
    });
  }

  private inComprehension(
    value: Expression & { kind: "comprehension" },
    path: string,
    depth: number,
  ): Unfit | undefined {
    if (value.key && this.isBadKey(value.key)) return keyProblem(value.key, path);
    return this.find(value.element, value.form === "dict" ? path : `${path}[]`, depth + 1);
  }

  /** json.dumps makes texts of numbers, but of nothing else. */
  private isBadKey(key: Expression): boolean {
    if (key.kind === "tuple" || key.kind === "bytes") return true;
    const type = this.types.of(key);
    if (type === "number" || type === "none") return !this.forDumps;
    return type === "datetime" || type === "date" || type === "Decimal" || type === "UUID" || type === "Path";
  }

  /** A name for a list or dict that the code spells out, and what it puts into it later. */
  private inNamed(name: Expression & { kind: "name" }, path: string, depth: number): Unfit | undefined {
    const [only, ...others] = this.program.reaching(name);
    if (!only || others.length > 0 || only.origin.kind !== "value" || this.isReworked(name.id)) return undefined;
    const { value } = only.origin;
    const additions = this.additionsTo(name.id);
    if (!additions) return undefined;
    if (value.kind === "call" && additions.length === 0) return this.inMade(value, path, depth);
    const isDisplay = value.kind === "dict" || value.kind === "list" || value.kind === "comprehension";
    if (!isDisplay) return undefined;
    const replaced = new Set(additions.flatMap(({ key }) => (key === undefined ? [] : [key])));
    const spelt =
      value.kind === "dict" ? this.inEntries(value, path, depth + 1, replaced) : this.find(value, path, depth + 1);
    const last = new Map(additions.map((addition) => [addition.key ?? addition, addition]));
    return (
      spelt ??
      first(last.values(), ({ key, value: added }) => this.find(added, key ? `${path}.${key}` : `${path}[]`, depth + 1))
    );
  }

  /** `dict(at=x)`, and `defaultdict(set)`, whose values stay what it makes them: nobody puts others in their place. */
  private inMade(call: Call, path: string, depth: number): Unfit | undefined {
    const made = this.program.importPath(call.callee);
    if (made === "builtins.dict") return this.inAnswer(call, path, depth + 1);
    const [maker, ...others] = call.args;
    if (made !== "collections.defaultdict" || !maker || others.length > 0) return undefined;
    const type = madeBy(this.program.importPath(maker.value) ?? "");
    if (!this.isUnfit(type)) return undefined;
    const [what, cure] = unfitTypes[type];
    return { node: call, path: `${path}[]`, what, cure };
  }

  /** `rows.append(x)`, `row["at"] = x`; undefined where something else may happen to the value. */
  private additionsTo(id: string): { key?: string; value: Expression }[] | undefined {
    const found: { key?: string; value: Expression }[] = [];
    for (const node of this.program.nodes) {
      if (node.kind === "assign" && node.value) {
        for (const target of node.targets) {
          if (target.kind !== "subscript" || target.object.kind !== "name" || target.object.id !== id) continue;
          const key = keyOf(target.index);
          if (key === undefined || key === "[]") return undefined;
          found.push({ key, value: node.value });
        }
      }
      if (node.kind !== "call" || node.callee.kind !== "attribute") continue;
      const { object, name } = node.callee;
      if (object.kind !== "name" || object.id !== id) continue;
      if (name === "update") {
        const added = updatesOf(node);
        if (!added) return undefined;
        found.push(...added);
      }
      if (/^(pop|clear|setdefault|popitem|remove)$/.test(name)) return undefined;
      const [value] = node.args.map((argument) => argument.value);
      if (name === "append" && value) found.push({ value });
    }
    return found;
  }

  /** Whether a loop goes over it and may put its items right, or a function gets it. */
  private isReworked(id: string): boolean {
    return this.program.nodes.some((node) => {
      if (node.kind === "for") return mentions(node.iterable, id);
      if (node.kind === "delete") return node.targets.some((target) => mentions(target, id));
      return (
        node.kind === "argument" &&
        node.value.kind === "name" &&
        node.value.id === id &&
        this.isForeignCall(node.parent)
      );
    });
  }

  private isForeignCall(call: Node | null): boolean {
    if (call?.kind !== "call") return true;
    const path = this.program.importPath(call.callee);
    const isAddition = call.callee.kind === "attribute" && /^(append|update|insert|extend)$/.test(call.callee.name);
    return !isAddition && (path === undefined || !/^(builtins|json)\./.test(path));
  }
}

/** The entries of `x.update(...)`, where it spells them out. */
function updatesOf({ args }: Call): { key: string; value: Expression }[] | undefined {
  const all = args.map(({ name, stars, value }) => {
    if (name !== null) return [{ key: name, value }];
    if (stars > 0 || value.kind !== "dict") return undefined;
    const entries = value.entries.map((entry) => ({
      key: entry.key ? keyOf(entry.key) : undefined,
      value: entry.value,
    }));
    return entries.every((entry): entry is { key: string; value: Expression } => entry.key !== undefined)
      ? entries
      : undefined;
  });
  return all.every((entries) => entries !== undefined) ? all.flat() : undefined;
}

function mentions(expression: Expression, id: string): boolean {
  if (expression.kind === "name") return expression.id === id;
  return expression.children.some((child) => mentions(child as Expression, id));
}

function keyProblem(key: Node, path: string): Unfit {
  return { node: key, path, what: "a dict with keys that are no texts", cure: "use str(key) for its keys" };
}

function first<T>(items: Iterable<T>, find: (item: T) => Unfit | undefined): Unfit | undefined {
  for (const item of items) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}
