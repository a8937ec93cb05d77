import { z } from "zod";

/** Names of the fields that an object at this path may have; none where any may stand. */
export function knownFields(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const [name, ...rest] = path;
  return objectsIn(schema).flatMap(({ shape }) => {
    if (name === undefined) return Object.keys(shape);
    const inner = shape[String(name)];
    return inner instanceof z.ZodType ? knownFields(inner, rest) : [];
  });
}

/** What may be left out, has a default or is made into something else, is looked through. */
function objectsIn(schema: z.ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => objectsIn(option as z.ZodType));
  if (schema instanceof z.ZodPipe) return objectsIn(schema.in as z.ZodType);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return objectsIn(schema.unwrap() as z.ZodType);
  }
  return [];
}
