import { keyOf } from "../flow/paths.ts";
import { type Type, type UnfitType, unfitTypes } from "../known/types.ts";
import type { Program } from "../scope/program.ts";
import type { Expression, Node } from "../tree/nodes.ts";
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
    return value.kind === "name" ? this.inNamed(value, path, depth) : undefined;
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
    const isDisplay = value.kind === "dict" || value.kind === "list" || value.kind === "comprehension";
    if (!isDisplay) return undefined;
    const additions = this.additionsTo(name.id);
    if (!additions) return undefined;
    const replaced = new Set(additions.flatMap(({ key }) => (key === undefined ? [] : [key])));
    const spelt =
      value.kind === "dict" ? this.inEntries(value, path, depth + 1, replaced) : this.find(value, path, depth + 1);
    const last = new Map(additions.map((addition) => [addition.key ?? addition, addition]));
    return (
      spelt ??
      first(last.values(), ({ key, value: added }) => this.find(added, key ? `${path}.${key}` : `${path}[]`, depth + 1))
    );
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
      if (/^(update|pop|clear|setdefault|popitem|remove)$/.test(name)) return undefined;
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
