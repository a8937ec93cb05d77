import { defined } from "@nova/workflow";
import { z } from "zod";
import type {
  CredentialCipher,
  CredentialKindName,
  CredentialOwner,
  CredentialPlace,
  CredentialRecord,
} from "../ports/credentials.ts";

/** The length of the shortest secret. Shorter texts occur everywhere, so NOVA cannot mask them. */
const shortestSecret = 6;
/**
 * The length of the longest text in a credential. The sandbox returns longer texts as blobs, so NOVA could not see
 * whether code has changed such a text.
 */
const longestTextBytes = 4096;

/** A kind of credential: its fields, and how code sees them. */
interface CredentialKind<Values extends object = CredentialValues> {
  secretFields: readonly string[];
  /** Returns the members that a credential adds to the context of code; `name` is the name of the credential. */
  flatten(values: Values, name: string): Record<string, unknown>;
  hosts(values: Values): string[];
}

export type CredentialValues = Record<string, unknown>;

/** Builds a kind of credential. The cast is safe, because a kind only receives values of its own schema. */
function kind<Values extends object>(schema: z.ZodType<Values>, more: CredentialKind<Values>) {
  return { schema, ...more } as unknown as CredentialKind & { schema: z.ZodType<CredentialValues> };
}

const Text = z
  .string({ error: "must be a text" })
  .min(1, { error: "must not be empty" })
  .refine((text) => Buffer.byteLength(text) <= longestTextBytes, { error: "must have at most 4096 bytes" })
  .refine((text) => !text.includes("\0") && text.isWellFormed(), { error: "must be printable text" });

const Secret = Text.refine((text) => text.length >= shortestSecret, {
  error: "must have at least 6 characters: shorter texts occur in other data, so they cannot be masked",
});

const Host = Text.regex(/^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?)$/i, {
  error: 'must be a host such as "imap.example.com", without a scheme or a port',
}).transform((host) => host.toLowerCase());

const Port = z
  .int({
    error: ({ input }) => (typeof input === "string" ? "must be a number, not a text" : "must be a port, 1 to 65535"),
  })
  .min(1, { error: "must be a port, 1 to 65535" })
  .max(65_535, { error: "must be a port, 1 to 65535" });

const WebAddress = z
  .url({ protocol: /^https?$/, error: 'must be an address such as "https://api.example.com"' })
  .refine((address) => !URL.canParse(address) || new URL(address).username + new URL(address).password === "", {
    error: "must not contain a user or a password: they have fields of their own",
  });

function prefixed(values: object, prefix: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [`${prefix}_${field}`, value]));
}

function hostOf(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === "http:" ? 80 : 443)}`;
}

/** A mailbox: code reads mails with IMAP, and sends mails with SMTP. */
const email = kind(
  z
    .strictObject({
      user: Text,
      password: Secret,
      smtp_host: Host.optional(),
      smtp_port: Port.optional(),
      imap_host: Host.optional(),
      imap_port: Port.optional(),
    })
    .refine(({ smtp_host, imap_host }) => smtp_host !== undefined || imap_host !== undefined, {
      error: "needs smtp_host, imap_host or both",
    })
    .transform(({ smtp_port = 587, imap_port = 993, ...email }) => ({
      ...email,
      ...(email.smtp_host !== undefined && { smtp_port }),
      ...(email.imap_host !== undefined && { imap_port }),
    })),
  {
    secretFields: ["password"],
    flatten: ({ user, password, ...servers }) => ({ email_user: user, email_password: password, ...servers }),
    hosts: ({ smtp_host, smtp_port, imap_host, imap_port }) => [
      ...(smtp_host === undefined ? [] : [`${smtp_host}:${smtp_port}`]),
      ...(imap_host === undefined ? [] : [`${imap_host}:${imap_port}`]),
    ],
  },
);

/** A PostgreSQL database; `sslmode` is a value of libpq such as `require`. */
const database = kind(
  z.strictObject({
    host: Host,
    port: Port.default(5432),
    name: Text,
    user: Text,
    password: Secret,
    sslmode: Text.optional(),
  }),
  {
    secretFields: ["password"],
    flatten: (values) => prefixed(values, "db"),
    hosts: ({ host, port }) => [`${host}:${port}`],
  },
);

/** An API that takes a password, a token or headers such as `X-Api-Key`. Header values are secret. */
const http = kind(
  z
    .strictObject({
      url: WebAddress,
      user: Text.optional(),
      password: Secret.optional(),
      token: Secret.optional(),
      headers: z.record(Text, Secret).optional(),
    })
    .refine(({ password, token, headers }) => password ?? token ?? headers, {
      error: "needs a password, a token or headers",
    }),
  {
    secretFields: ["password", "token", "headers"],
    flatten: (values) => prefixed(values, "http"),
    hosts: ({ url }) => [hostOf(url)],
  },
);

export const OAuth2 = z.strictObject({
  /** The URL that issues access tokens. Code does not get it. */
  token_url: WebAddress,
  client_id: Text,
  client_secret: Secret.optional(),
  /** If absent, NOVA requests access tokens with the client id and secret alone (`client_credentials`). */
  refresh_token: Secret.optional(),
  scope: Text.optional(),
  api_url: WebAddress.optional(),
  access_token: Secret.optional(),
  /** ISO 8601. If absent, an access token does not expire. */
  expires_at: z.iso.datetime({ offset: true }).optional(),
});
export type OAuth2 = z.output<typeof OAuth2>;

/**
 * Access to an API with OAuth 2. NOVA replaces the access token before it expires, and code sees only the current
 * token.
 */
const oauth2 = kind(OAuth2, {
  secretFields: ["client_secret", "refresh_token", "access_token"],
  flatten: ({ access_token, expires_at, api_url }) =>
    defined(prefixed({ access_token, expires_at, api_url }, "oauth2")),
  hosts: ({ api_url }) => (api_url === undefined ? [] : [hostOf(api_url)]),
});

const Field = z.string().regex(/^[a-z][a-z0-9_]{0,59}$/, { error: "must be a name such as api_key" });

/** Any other credential: named texts, all of them secret. */
const custom = kind(
  z
    .record(Field, Secret)
    .refine((fields) => Object.keys(fields).length > 0, { error: "needs a field" })
    .refine((fields) => Object.keys(fields).length <= 50, { error: "must have at most 50 fields" }),
  { secretFields: ["*"], flatten: prefixed, hosts: () => [] },
);

/**
 * Returns a message for an issue whose message by Zod is unclear; undefined for other issues. People see the message
 * after the name of the field. It contains no value of the credential.
 */
function valueMisfit(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "unrecognized_keys") {
    const names = (issue.keys as string[]).map((name) => JSON.stringify(name)).join(" or ");
    return `this kind has no ${names} - correct or remove it`;
  }
  if (issue.code === "invalid_key") return (issue.issues as z.core.$ZodIssue[])[0]?.message;
  if (issue.format === "datetime") return "must be a time with its zone, such as 2026-11-22T09:30:00Z";
  return issue.expected === "object" || issue.expected === "record" ? "must be an object" : undefined;
}

const credentialKinds = { email, database, http, oauth2, custom } satisfies Record<CredentialKindName, unknown>;
export const kindNames = Object.keys(credentialKinds) as CredentialKindName[];

/** Checks the values of a credential. Returns the values with defaults, or the problems of the values. */
export function checkValues(kind: CredentialKindName, values: unknown): z.ZodSafeParseResult<CredentialValues> {
  return credentialKinds[kind].schema.safeParse(values, { error: valueMisfit });
}

export function kindOf(kind: CredentialKindName): CredentialKind {
  return credentialKinds[kind];
}

/** Returns all texts in the values that must be masked. */
function secretTexts(kind: CredentialKindName, values: CredentialValues): string[] {
  const { secretFields } = kindOf(kind);
  const secret = secretFields.includes("*") ? Object.values(values) : secretFields.map((field) => values[field]);
  return secret.flatMap(textsIn);
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

/** How long NOVA still masks a replaced secret, because nodes that started with this secret may still run. */
const rememberedMs = 7 * 24 * 60 * 60 * 1000;
const maxRemembered = 20;

/** The encrypted part of a credential. */
const CredentialContent = z.object({
  format: z.literal(1),
  values: z.record(z.string(), z.unknown()),
  /** Replaced secrets, each masked until `until` (ISO 8601). */
  before: z.array(z.object({ secret: z.string(), until: z.string() })),
});

export type CredentialContent = z.infer<typeof CredentialContent>;

/**
 * Returns the encryption context of a credential: its owner and its name. A text that was sealed for one owner and name
 * cannot be opened for another owner or name. The context is not secret.
 */
function sealingContext({ owner, name }: CredentialPlace): Record<string, string> {
  return { ...owner, name };
}

export function ownerText(owner: CredentialOwner): string {
  return "client" in owner ? `client:${owner.client}` : `workflow:${owner.workflow}`;
}

/** Opens the sealed content of a record. Throws `CredentialLocked` if the content cannot be decrypted. */
export async function openContent(cipher: CredentialCipher, record: CredentialRecord): Promise<CredentialContent> {
  return CredentialContent.parse(JSON.parse(await cipher.open(record.sealed, sealingContext(record))));
}

/** Seals the first or next revision of a credential. */
export async function sealRecord(
  cipher: CredentialCipher,
  record: Omit<CredentialRecord, "format" | "sealed" | "key">,
  content: CredentialContent,
): Promise<CredentialRecord> {
  const { sealed, key } = await cipher.seal(JSON.stringify(content), sealingContext(record));
  return { format: 1, ...record, sealed, key };
}

/** Builds the content of the next revision: the new values, and the replaced secrets that must still be masked. */
export function replacing(
  values: CredentialValues,
  old: { kind: CredentialKindName; content: CredentialContent } | undefined,
  nowMs: number,
): CredentialContent {
  const until = new Date(nowMs + rememberedMs).toISOString();
  const replaced = old ? secretTexts(old.kind, old.content.values).map((secret) => ({ secret, until })) : [];
  const remembered = (old?.content.before ?? []).filter((one) => Date.parse(one.until) > nowMs);
  const known = new Map([...remembered, ...replaced].map((one) => [one.secret, one]));
  return { format: 1, values, before: Array.from(known.values()).slice(-maxRemembered) };
}

/** Returns all texts that must be masked for this credential: its secrets, and its recently replaced secrets. */
export function secretsIn(kind: CredentialKindName, { values, before }: CredentialContent): string[] {
  return [...secretTexts(kind, values), ...before.map(({ secret }) => secret)];
}

/**
 * Thrown if a credential cannot be decrypted: its text was changed, or was sealed with another key or for another owner
 * or name.
 */
export class CredentialLocked extends Error {
  override name = "CredentialLocked";

  constructor(options?: ErrorOptions) {
    super("it does not open: it was changed, or sealed with a key that is not here - store it again", options);
  }
}

/** Thrown if the token endpoint refused the request, and a repeated request would get the same answer. */
export class TokenRefused extends Error {
  override name = "TokenRefused";
}

/** Thrown if the token endpoint answered none of the requests. */
export class TokenEndpointLost extends TokenRefused {
  override name = "TokenEndpointLost";
}
