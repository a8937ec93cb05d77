import type { z } from "zod";

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The members that a record needs for a schema: those of its fields, in camel case, that `own` does not give. */
type Shown<Fields, Own> = {
  [Name in keyof Fields & string as Name extends keyof Own ? never : Camel<Name>]: unknown;
};

type Optional<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : null extends T[Name] ? never : Name]: T[Name];
};

/**
 * A record as a schema shows it: each field is the record's member of that name in camel case, or what `own` says. What is
 * absent is null where the schema knows null, and else is left out.
 */
export function viewOf<S extends z.ZodObject, Own extends Partial<Record<keyof z.output<S>, unknown>>>(
  schema: S,
  record: Shown<Optional<z.output<S>>, Own>,
  own: Own = {} as Own,
): { [Name in keyof z.output<S>]: z.output<S>[Name] } {
  const members = { ...(record as Record<string, unknown>) };
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    const value = name in own ? own[name as keyof Own] : members[camelCase(name)];
    return [name, value ?? (field.safeParse(null).success ? null : undefined)];
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The members that a client sent, by the names that they have inside; null is as good as absent. */
export function sentIn(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (value === null ? [] : [[camelCase(name), value]])),
  );
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
