import { invalid } from "../errors.ts";
import type { Expressions } from "../request/expressions.ts";
import type { Table } from "../store/tables.ts";
import { elementsOf } from "../values/key.ts";

/** Refuses a path that leads into a key attribute: a scalar has no parts. */
export function checkKeyPaths(table: Table, { paths }: Expressions): void {
  const all = Object.values(paths).flat();
  const heads = new Set(all.filter(({ length }) => length > 1).map(([head]) => head));
  if (heads.size === 0) return;
  const keys = elementsOf(table.key).map(({ name }) => ["Key", name] as const);
  const indexKeys = table.indexes.flatMap(({ key }) => elementsOf(key).map(({ name }) => ["IndexKey", name] as const));
  const [kind, name] = [...keys, ...indexKeys].find((key) => heads.has(key[1])) ?? [];
  if (name === undefined) return;
  const rule = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed";
  throw invalid(`${rule}: ${kind}: ${name}`);
}
