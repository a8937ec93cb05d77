import type { z } from "zod";

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The members that a record needs for a schema: its fields in camel case, without those that `own` gives. */
type Shown<Fields, Own> = {
  [Name in keyof Fields & string as Name extends keyof Own ? never : Camel<Name>]: unknown;
};

type Optional<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : null extends T[Name] ? never : Name]: T[Name];
};

/**
 * A record in the form of a schema: each field has the value of `own`, or of the record's member of that name in camel case.
 * An absent value becomes null if the schema allows null, and is left out otherwise.
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

/** The members of a request under their names in camel case; null counts as absent. */
export function sentIn(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => (value === null ? [] : [[camelCase(name), value]])),
  );
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
