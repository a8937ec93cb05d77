import { credentialKindNames } from "@nova/engine";
import type { CredentialInfo } from "@nova/service";
import { z } from "zod";
import { Time } from "./values.ts";

/** Begins the keys under which code finds a second credential of a kind. */
export const CredentialName = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/);

/** What each kind takes is described in docs/credentials.md, and checked where it is stored. */
export const CredentialRequest = z.strictObject({
  kind: z.enum(credentialKindNames),
  values: z.record(z.string(), z.unknown()).meta({ description: "write-only: nothing ever answers with them" }),
});

export const CredentialItem = z
  .object({ name: CredentialName, kind: z.enum(credentialKindNames), changed_at: Time })
  .meta({ id: "Credential" });

export function credentialItem({ name, kind, changedAt }: CredentialInfo) {
  return { name, kind, changed_at: changedAt };
}
