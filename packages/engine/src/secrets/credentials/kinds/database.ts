import { z } from "zod";
import { type CredentialKind, Host, Port, Secret, Text } from "../kind.ts";

const Database = z.strictObject({
  host: Host,
  port: Port.default(5432),
  name: Text,
  user: Text,
  password: Secret,
  /** As libpq says it, such as `require`. */
  sslmode: Text.optional(),
});

type Database = z.output<typeof Database>;

/** A PostgreSQL database. */
export const database: CredentialKind<Database> = {
  schema: Database,
  secretFields: ["password"],
  flatten: (values) => Object.fromEntries(Object.entries(values).map(([field, value]) => [`db_${field}`, value])),
  hosts: ({ host, port }) => [`${host}:${port}`],
};
