import type { Client, Schemas } from "@nova/client";
import type { texts } from "../../texts.ts";

export type Kind = Schemas["Credential"]["kind"];

export interface CredentialField {
  name: string;
  label: string;
  /** `pairs`: a list of names with secret values, to which the user adds rows. */
  type: "text" | "secret" | "port" | "url" | "pairs";
  isOptional?: true;
  example?: string;
}

/** Formats the name of a field as a label: `SMTP host` for `smtp_host`. */
function formatName(name: string): string {
  const words = name.replaceAll("_", " ").replaceAll(/\b(smtp|imap|ssl|api|url|id)/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const text = (name: string, more: Partial<CredentialField> = {}): CredentialField => ({
  name,
  label: formatName(name),
  type: "text",
  ...more,
});
const optional = { isOptional: true } as const;
const secret = { type: "secret" } as const;
const port = (name: string, example: string) => text(name, { type: "port", example, ...optional });

/** Fields of each kind, as in docs/credentials.md. The server validates them. */
export const kinds: Record<Kind, readonly CredentialField[]> = {
  email: [
    text("user", { example: "invoices@example.com" }),
    text("password", secret),
    text("smtp_host", { example: "smtp.example.com", ...optional }),
    port("smtp_port", "587"),
    text("imap_host", { example: "imap.example.com", ...optional }),
    port("imap_port", "993"),
  ],
  database: [
    text("host", { example: "db.example.com" }),
    port("port", "5432"),
    text("name", { label: "Database" }),
    text("user"),
    text("password", secret),
    text("sslmode", { example: "require", ...optional }),
  ],
  http: [
    text("url", { type: "url", example: "https://api.example.com" }),
    text("user", optional),
    text("password", { ...secret, ...optional }),
    text("token", { ...secret, ...optional }),
    text("headers", { type: "pairs", ...optional }),
  ],
  oauth2: [
    text("token_url", { type: "url", example: "https://login.example.com/token" }),
    text("client_id"),
    text("client_secret", { ...secret, ...optional }),
    text("refresh_token", { ...secret, ...optional }),
    text("scope", optional),
    text("api_url", { type: "url", example: "https://api.example.com", ...optional }),
    text("access_token", { ...secret, ...optional }),
    text("expires_at", { example: "2027-01-31T09:30:00Z", ...optional }),
  ],
  custom: [text("values", { type: "pairs" })],
};

export interface Pair {
  name: string;
  value: string;
}

/** The input of a credential form: texts by field, and the rows of the field of type `pairs`. */
export interface CredentialDraft {
  texts: Readonly<Record<string, string>>;
  pairs: readonly Pair[];
}

export const emptyDraft: CredentialDraft = { texts: {}, pairs: [{ name: "", value: "" }] };

/** Builds the values for the API. Empty fields are omitted. Spaces are kept, because a secret may contain them. */
export function buildValues(kind: Kind, { texts: input, pairs }: CredentialDraft): Record<string, unknown> {
  const filled = pairs.filter((pair) => !isEmpty(pair));
  const pairValues = Object.fromEntries(filled.map(({ name, value }) => [name, value]));
  if (kind === "custom") return pairValues;
  const values = kinds[kind].flatMap(({ name, type }): [string, unknown][] => {
    if (type === "pairs") return Object.keys(pairValues).length === 0 ? [] : [[name, pairValues]];
    const value = input[name] ?? "";
    if (value === "") return [];
    return [[name, type === "port" ? Number(value) : value]];
  });
  return Object.fromEntries(values);
}

type Problem = keyof typeof texts.clients.credentials.problems;

const shortestSecret = 6;
/** The pattern of valid names in a credential of the kind `custom`. Other kinds allow any name. */
const fieldName = /^[a-z][a-z0-9_]{0,59}$/;

/** Returns the reason why the server would refuse the value of a field; undefined for a valid value. */
export function checkField({ type }: CredentialField, value: string): Problem | undefined {
  if (value === "") return undefined;
  if (type === "secret" && value.length < shortestSecret) return "short";
  if (type === "port" && !(/^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535)) return "port";
  return undefined;
}

export function checkPair(kind: Kind, pairs: readonly Pair[], index: number): Problem | undefined {
  const { name, value } = pairs[index] ?? { name: "", value: "" };
  if (isEmpty({ name, value })) return undefined;
  if (kind === "custom" && !fieldName.test(name)) return "field";
  if (pairs.some((other, at) => at !== index && other.name === name)) return "twice";
  return value.length < shortestSecret ? "short" : undefined;
}

function isEmpty({ name, value }: Pair): boolean {
  return name === "" && value === "";
}

export function isValidDraft(kind: Kind, { texts: input, pairs }: CredentialDraft): boolean {
  return (
    kinds[kind].every((field) => checkField(field, input[field.name] ?? "") === undefined) &&
    pairs.every((_, index) => checkPair(kind, pairs, index) === undefined)
  );
}

type Quotas = Schemas["ClientQuotas"];

export type SettingsDraft = ReturnType<typeof createSettingsDraft>;

export function createSettingsDraft({ name, mail_from, on_failure: { mail = [], webhook } }: Client) {
  return {
    name,
    mailFrom: mail_from ?? "",
    mails: mail.join(", "),
    webhook: webhook?.url ?? "",
    secret: webhook?.secret ?? "",
  };
}

/**
 * Returns only the changed settings. A request that contains `mail_from`, even unchanged, needs a key with more rights.
 */
export function diffSettings(client: Client, draft: SettingsDraft) {
  const before = createSettingsDraft(client);
  const name = draft.name.trim();
  const mailFrom = draft.mailFrom.trim();
  const hasReceiverChange = (["mails", "webhook", "secret"] as const).some(
    (field) => draft[field].trim() !== before[field],
  );
  return {
    ...(name !== before.name && { name }),
    ...(mailFrom !== before.mailFrom && { mail_from: mailFrom || null }),
    ...(hasReceiverChange && { on_failure: parseOnFailure(draft) }),
  };
}

function parseOnFailure({ mails, webhook, secret }: SettingsDraft) {
  const mail = mails.split(/[\s,;]+/).filter((address) => address !== "");
  const url = webhook.trim();
  const signed = secret.trim();
  return {
    ...(mail.length > 0 && { mail }),
    ...(url !== "" && { webhook: { url, ...(signed !== "" && { secret: signed }) } }),
  };
}

export const quotaNames = ["max_concurrent", "max_cost_usd", "retention_days"] as const;
type QuotaName = (typeof quotaNames)[number];
type QuotasDraft = Record<QuotaName, string>;

export function createQuotasDraft(quotas: Quotas): QuotasDraft {
  return Object.fromEntries(quotaNames.map((name) => [name, String(quotas[name] ?? "")])) as QuotasDraft;
}

/** Checks the format of a quota. The server checks its range. */
export function checkQuota(name: QuotaName, text: string): "whole" | "amount" | undefined {
  const value = text.trim();
  if (value === "") return undefined;
  if (name === "max_cost_usd") return /^\d+(\.\d+)?$/.test(value) ? undefined : "amount";
  return /^\d+$/.test(value) ? undefined : "whole";
}

/** Builds all quotas, because one request replaces all of them. An empty text removes a limit. */
export function parseQuotas(draft: QuotasDraft): Quotas {
  const values = quotaNames.map((name) => [name, draft[name].trim() === "" ? null : Number(draft[name])] as const);
  return Object.fromEntries(values) as Quotas;
}
