import type { SyntaxNode } from "@lezer/common";
import { type Comprehension, type Entry, type Expression, grown } from "./nodes.ts";
import { expressionsOf, type Grammar, itemOf, Reader, storing } from "./reader.ts";

const forms = {
  ComprehensionExpression: "generator",
  ArrayComprehensionExpression: "list",
  SetComprehensionExpression: "set",
  DictionaryComprehensionExpression: "dict",
} as const;

const kinds: Record<string, "list" | "tuple" | "set"> = {
  ArrayExpression: "list",
  TupleExpression: "tuple",
  SetExpression: "set",
};

/** Lists, tuples, sets, dicts and comprehensions. */
export function displayOf(node: SyntaxNode, grammar: Grammar): Expression {
  const reader = new Reader(node, grammar);
  reader.take();
  const form = forms[node.name as keyof typeof forms];
  const kind = kinds[node.name];
  if (kind) return itemsOf(kind, node, reader);
  const entries = form === undefined || form === "dict" ? entriesOf(reader) : [{ key: null, value: itemOf(reader) }];
  if (form) return comprehensionOf(form, entries[0] as Entry, node, reader);
  return grown({ kind: "dict", entries }, node);
}

function itemsOf(kind: "list" | "tuple" | "set", node: SyntaxNode, reader: Reader): Expression {
  const items: Expression[] = [];
  while (!reader.done && !/^[\])}]$/.test(reader.peek())) {
    items.push(itemOf(reader));
    reader.skip(",");
  }
  return grown({ kind, items }, node);
}

/** Up to the closing bracket, or to the `for` of a comprehension. */
function entriesOf(reader: Reader): Entry[] {
  const entries: Entry[] = [];
  while (!reader.done && !/^(\}|for|async)$/.test(reader.peek())) {
    const spread = reader.skip("**");
    const first = reader.expression();
    if (spread) entries.push({ key: null, value: first });
    else {
      reader.skip(":");
      entries.push({ key: first, value: reader.expression() });
    }
    reader.skip(",");
  }
  return entries;
}

/** The `for ... in ... if ...` of a comprehension whose element has been read. */
export function comprehensionOf(
  form: Comprehension["form"],
  { key, value }: Entry,
  place: { from: number; to: number },
  reader: Reader,
): Comprehension {
  const loops: Comprehension["loops"] = [];
  const conditions: Expression[] = [];
  while (/^(for|async|if)$/.test(reader.peek())) {
    reader.skip("async");
    if (reader.skip("if")) {
      conditions.push(reader.expression());
      continue;
    }
    reader.skip("for");
    const target = storing(expressionsOf(reader));
    reader.skip("in");
    loops.push({ target, iterable: reader.expression() });
  }
  return grown({ kind: "comprehension", form, key, element: value, loops, conditions }, place);
}
