import { z } from "zod";

/** Texts shorter than this occur everywhere, so nothing could tell where a secret stands. */
const shortestSecret = 6;
/** Longer texts would leave the sandbox as blobs, and not be known again as what was given. */
const longestTextBytes = 4096;

/** What people store under a name, and what becomes of it where code runs. */
export interface CredentialKind<Values extends object = object> {
  schema: z.ZodType<Values>;
  /** Fields whose values nobody but the code may see. */
  secretFields: readonly string[];
  /** Names under which code finds the values in `context`; `name` is that of the credential. */
  flatten(values: Values, name: string): Record<string, unknown>;
  /** `host:port`, each that it is good for. */
  hosts(values: Values): string[];
}

export const Text = z
  .string({ error: "must be a text" })
  .min(1, { error: "must not be empty" })
  .refine((text) => Buffer.byteLength(text) <= longestTextBytes, { error: "must have at most 4096 bytes" })
  .refine((text) => !text.includes("\0") && text.isWellFormed(), { error: "must be printable text" });

export const Secret = Text.refine((text) => text.length >= shortestSecret, {
  error: "must have at least 6 characters: what is shorter cannot be told from other data, and so not be masked",
});

export const Host = Text.regex(/^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?)$/i, {
  error: 'must be a host such as "imap.example.com", without a scheme or a port',
}).transform((host) => host.toLowerCase());

export const Port = z
  .int({ error: "must be a port, 1 to 65535" })
  .min(1, { error: "must be a port, 1 to 65535" })
  .max(65_535, { error: "must be a port, 1 to 65535" });

/** An address that is called. */
export const WebAddress = z
  .url({ protocol: /^https?$/, error: 'must be an address such as "https://api.example.com"' })
  .refine((address) => !URL.canParse(address) || new URL(address).username + new URL(address).password === "", {
    error: "must not contain a user or a password: they have fields of their own",
  });

export function hostOf(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === "http:" ? 80 : 443)}`;
}
