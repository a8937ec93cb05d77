import type { SyntaxNode } from "@lezer/common";
import { type Block, type Expression, type Identifier, makeNode, type Node } from "./nodes.ts";

/**
 * The readers of expressions and blocks. They are passed down, because expressions and statements contain each other.
 */
export interface Grammar {
  source: string;
  text(node: SyntaxNode): string;
  isExpression(name: string): boolean;
  expression(node: SyntaxNode): Expression;
  block(node: SyntaxNode): Block;
}

export function* childrenOf(node: SyntaxNode): Iterable<SyntaxNode> {
  for (let child = node.firstChild; child; child = child.nextSibling) yield child;
}

/** Reads the children of a lezer node one after the other. */
export class Reader {
  readonly grammar: Grammar;
  #next: SyntaxNode | null;

  constructor(node: SyntaxNode, grammar: Grammar) {
    this.grammar = grammar;
    this.#next = node.firstChild;
    this.#skipComments();
  }

  get done(): boolean {
    return this.#next === null;
  }

  peek(): string {
    return this.#next?.name ?? "";
  }

  get atExpression(): boolean {
    return this.grammar.isExpression(this.peek());
  }

  take(): SyntaxNode {
    const taken = this.#next;
    if (!taken) throw new RangeError("the syntax tree ends where a node was expected");
    this.#next = taken.nextSibling;
    this.#skipComments();
    return taken;
  }

  skip(...names: string[]): boolean {
    if (!this.#next || !names.includes(this.#next.name)) return false;
    this.take();
    return true;
  }

  text(node: SyntaxNode): string {
    return this.grammar.text(node);
  }

  listed<T>(end: RegExp, read: (reader: Reader) => T): T[] {
    const found: T[] = [];
    while (!this.done && !end.test(this.peek())) {
      found.push(read(this));
      this.skip(",");
    }
    return found;
  }

  identifier(): Identifier {
    const name = this.take();
    return { id: this.text(name), from: name.from };
  }

  expression(): Expression {
    return this.grammar.expression(this.take());
  }

  block(): Block {
    return this.grammar.block(this.take());
  }

  #skipComments(): void {
    while (this.#next?.name === "Comment") this.#next = this.#next.nextSibling;
  }
}

/** A part of a rule: a word that may be absent, or fields with their readers. */
type Part = string | Record<string, (reader: Reader) => unknown>;

/** Builds a reader for nodes whose children are the given parts in this order. */
export function rule(kind: Node["kind"], ...parts: Part[]): (node: SyntaxNode, grammar: Grammar) => never {
  return (node, grammar) => {
    const reader = new Reader(node, grammar);
    const fields: Record<string, unknown> = { kind };
    for (const part of parts) {
      if (typeof part === "string") reader.skip(part);
      else for (const [name, read] of Object.entries(part)) fields[name] = read(reader);
    }
    return makeNode(fields, node) as never;
  };
}

export const one = (reader: Reader) => reader.expression();
export const word = (reader: Reader) => reader.text(reader.take());
export const target = (reader: Reader) => storing(expressionsOf(reader));
export const perhaps = (reader: Reader) => (reader.done ? null : expressionsOf(reader));

/** Reads `a, *b, c` without brackets: one expression, or a tuple of them. */
export function expressionsOf(reader: Reader): Expression {
  const items: Expression[] = [];
  let commas = 0;
  while (reader.peek() === "*" || reader.atExpression) {
    items.push(itemOf(reader));
    if (!reader.skip(",")) break;
    commas++;
  }
  const [first] = items;
  if (first && commas === 0) return first;
  return makeNode({ kind: "tuple", items }, { from: first?.from ?? 0, to: items.at(-1)?.to ?? 0 });
}

/** Reads an element of a list, tuple, set or argument list: `*b` or an expression. */
export function itemOf(reader: Reader): Expression {
  if (reader.peek() !== "*") return reader.expression();
  const star = reader.take();
  const value = reader.expression();
  return makeNode({ kind: "star", value }, { from: star.from, to: value.to });
}

/** Marks the names and subscripts that an assignment, a loop or a `with` writes to. */
export function storing(target: Expression): Expression {
  if (target.kind === "name" || target.kind === "subscript") target.stores = true;
  if (target.kind === "tuple" || target.kind === "list") target.items.forEach(storing);
  if (target.kind === "star") storing(target.value);
  return target;
}
