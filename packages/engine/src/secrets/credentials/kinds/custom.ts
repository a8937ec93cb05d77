import { z } from "zod";
import { type CredentialKind, Secret } from "../kind.ts";

const Field = z.string().regex(/^[a-z][a-z0-9_]{0,59}$/, { error: "must be a name such as api_key" });

const Custom = z
  .record(Field, Secret)
  .refine((fields) => Object.keys(fields).length > 0, { error: "needs a field" })
  .refine((fields) => Object.keys(fields).length <= 50, { error: "must have at most 50 fields" });

type Custom = z.output<typeof Custom>;

/** Anything else: texts under names of their own, all of them secret. */
export const custom: CredentialKind<Custom> = {
  schema: Custom,
  secretFields: ["*"],
  flatten: (values, name) =>
    Object.fromEntries(Object.entries(values).map(([field, value]) => [`${name}_${field}`, value])),
  hosts: () => [],
};
