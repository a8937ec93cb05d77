import { z } from "zod";

/** Begins the names under which code finds what is in it, hence the narrow alphabet. */
export const credentialNamePattern = /^[a-z][a-z0-9_]{0,39}$/;

const nameError = "must be a name such as email: a lower-case letter, then lower-case letters, digits or _, at most 40";

export const CredentialName = z.string({ error: nameError }).regex(credentialNamePattern, { error: nameError });

/** Credentials by name. `whose` ends the description. */
export function credentialNames(whose: string) {
  return z
    .array(CredentialName, { error: 'must be a list of names such as ["email"]' })
    .max(20, { error: "must have at most 20 names" })
    .refine((names) => new Set(names).size === names.length, { error: "must name each credential once" })
    .describe(
      `Names of the credentials, of the client or of the workflow, that ${whose} \`[]\`: none. See Credentials.`,
    );
}
