import type { SyntaxNode } from "@lezer/common";
import type { Block, Expression, Identifier } from "./nodes.ts";

/** How the nodes of one source are read; handed down, since expressions and statements hold each other. */
export interface Grammar {
  source: string;
  text(node: SyntaxNode): string;
  isExpression(name: string): boolean;
  expression(node: SyntaxNode): Expression;
  block(node: SyntaxNode): Block;
}

/** The children of one of lezer's nodes, taken one after the other. */
export class Reader {
  readonly grammar: Grammar;
  private next: SyntaxNode | null;

  constructor(node: SyntaxNode, grammar: Grammar) {
    this.grammar = grammar;
    this.next = node.firstChild;
    this.skipComments();
  }

  get done(): boolean {
    return this.next === null;
  }

  peek(): string {
    return this.next?.name ?? "";
  }

  get atExpression(): boolean {
    return this.grammar.isExpression(this.peek());
  }

  take(): SyntaxNode {
    const taken = this.next;
    if (!taken) throw new RangeError("the syntax tree ends where a node was expected");
    this.next = taken.nextSibling;
    this.skipComments();
    return taken;
  }

  /** Takes the next node if it has one of these names. */
  skip(...names: string[]): boolean {
    if (!this.next || !names.includes(this.next.name)) return false;
    this.take();
    return true;
  }

  text(node: SyntaxNode): string {
    return this.grammar.text(node);
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

  private skipComments(): void {
    while (this.next?.name === "Comment") this.next = this.next.nextSibling;
  }
}
