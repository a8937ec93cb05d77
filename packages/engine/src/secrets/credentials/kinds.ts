import type { z } from "zod";
import type { CredentialKindName } from "../../ports/credential-store.ts";
import type { CredentialKind } from "./kind.ts";
import { custom } from "./kinds/custom.ts";
import { database } from "./kinds/database.ts";
import { email } from "./kinds/email.ts";
import { http } from "./kinds/http.ts";
import { oauth2 } from "./kinds/oauth2.ts";
import { valueMisfit } from "./value-misfit.ts";

/** Every kind of credential. */
export const credentialKinds = { email, database, http, oauth2, custom } satisfies Record<CredentialKindName, unknown>;

export const kindNames = Object.keys(credentialKinds) as CredentialKindName[];

/** Values as their kind has them. */
export type CredentialValues = Record<string, unknown>;

/** The values with their defaults, or what is wrong with them. */
export function checkValues(kind: CredentialKindName, values: unknown): z.ZodSafeParseResult<CredentialValues> {
  return kindOf(kind).schema.safeParse(values, { error: valueMisfit }) as z.ZodSafeParseResult<CredentialValues>;
}

/** Its own values are all that a kind is ever given. */
export function kindOf(kind: CredentialKindName): CredentialKind<CredentialValues> {
  return credentialKinds[kind] as unknown as CredentialKind<CredentialValues>;
}

/** The texts that nobody may see. */
export function secretTexts(kind: CredentialKindName, values: CredentialValues): string[] {
  const { secretFields } = kindOf(kind);
  const secret = secretFields.includes("*") ? Object.values(values) : secretFields.map((field) => values[field]);
  return secret.flatMap(textsIn);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}
