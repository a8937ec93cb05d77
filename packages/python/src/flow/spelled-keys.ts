import type { Program } from "../scope/program.ts";
import type { Expression } from "../tree/nodes.ts";
import { knownEntries } from "./dicts.ts";

/**
 * Every text that a name can be in a loop over texts that the code spells out: `for key in ("net", "gross")`, or
 * `for key, value in updates.items()`. Undefined where it can be others.
 */
export function spelledKeys(program: Program, index: Expression): string[] | undefined {
  if (index.kind !== "name") return undefined;
  const [only, ...others] = program.reaching(index);
  if (!only || others.length > 0) return undefined;
  const { origin } = only;
  if (origin.kind === "item") return textsOf(program, origin.of);
  if (origin.kind === "part" && origin.ofItem && origin.index === 0) return keysOfItems(program, origin.of);
  return undefined;
}

function textsOf(program: Program, iterable: Expression): string[] | undefined {
  if (iterable.kind === "list" || iterable.kind === "tuple" || iterable.kind === "set") {
    const texts = iterable.items.flatMap((item) => (item.kind === "text" ? [item.value] : []));
    return texts.length === iterable.items.length ? texts : undefined;
  }
  if (iterable.kind === "dict") return keysOf(program, iterable);
  if (iterable.kind !== "name") return undefined;
  const [only, ...others] = program.reaching(iterable);
  if (only?.origin.kind !== "value" || others.length > 0) return undefined;
  const isOnlyRead = program.loadsOf(iterable.id).every(({ parent }) => parent?.kind !== "attribute");
  return only.origin.value.kind === "dict"
    ? keysOf(program, iterable)
    : isOnlyRead && only.origin.value.kind !== "name"
      ? textsOf(program, only.origin.value)
      : undefined;
}

function keysOfItems(program: Program, iterable: Expression): string[] | undefined {
  if (iterable.kind !== "call" || iterable.callee.kind !== "attribute") return undefined;
  return iterable.callee.name === "items" ? keysOf(program, iterable.callee.object) : undefined;
}

function keysOf(program: Program, dict: Expression): string[] | undefined {
  return knownEntries(program, dict)?.map(({ key }) => key);
}
