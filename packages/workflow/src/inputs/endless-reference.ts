import { isObject } from "../json/loose.ts";
import { type Segments, segmentsOfPointer } from "./ajv.ts";

/** Keywords whose schemas look at the same value; every other one goes on to a part of it, which ends some time. */
const sameValue = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/**
 * Place of a `$ref` that leads back to itself without going on to a part of the value: whoever validates by such a schema
 * never ends. Undefined where there is none.
 */
export function endlessReference(root: Record<string, unknown>): Segments | undefined {
  const done = new Set<unknown>();
  const open = new Set<unknown>();

  /** Follows what looks at the same value as `schema` does. */
  function follow(schema: unknown, place: Segments): Segments | undefined {
    if (!isObject(schema) || done.has(schema)) return undefined;
    if (open.has(schema)) return place;
    open.add(schema);
    const found = first([
      ...(typeof schema.$ref === "string"
        ? [() => follow(referredIn(root, schema.$ref as string), [...place, "$ref"])]
        : []),
      ...sameValue.flatMap((keyword) => schemasIn(schema[keyword], [...place, keyword], follow)),
    ]);
    open.delete(schema);
    done.add(schema);
    return found;
  }

  /** Every schema there is, wherever it stands. */
  function visit(value: unknown, place: Segments): Segments | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    const parts = Object.entries(value).map(
      ([key, part]) =>
        () =>
          visit(part, [...place, key]),
    );
    return follow(value, place) ?? first(parts);
  }

  return visit(root, []);
}

type Search = () => Segments | undefined;

function schemasIn(
  value: unknown,
  place: Segments,
  follow: (schema: unknown, place: Segments) => Segments | undefined,
): Search[] {
  if (Array.isArray(value)) return value.map((schema, index) => () => follow(schema, [...place, index]));
  if (!isObject(value)) return [];
  if (place.at(-1) !== "dependentSchemas") return [() => follow(value, place)];
  return Object.entries(value).map(
    ([key, schema]) =>
      () =>
        follow(schema, [...place, key]),
  );
}

function first(searches: Search[]): Segments | undefined {
  for (const search of searches) {
    const found = search();
    if (found) return found;
  }
  return undefined;
}

/** What a pointer into the same schema refers to: `#`, `#/$defs/item`. */
function referredIn(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  let found = root;
  for (const segment of segmentsOfPointer(decodeURIComponent(reference.slice(1)))) {
    found = (found as Record<string | number, unknown> | undefined)?.[segment];
  }
  return found;
}
