import { z } from "zod";
import type {
  CredentialCipher,
  CredentialKindName,
  CredentialOwner,
  CredentialPlace,
  CredentialRecord,
} from "../../ports/credentials.ts";
import { type CredentialValues, secretTexts } from "./kinds.ts";

/** How long a replaced value is still masked: nodes that started with it may still run. */
const rememberedMs = 7 * 24 * 60 * 60 * 1000;
const maxRemembered = 20;

/** The sealed part of a credential. */
const CredentialContent = z.object({
  format: z.literal(1),
  values: z.record(z.string(), z.unknown()),
  /** Replaced secrets, each masked until `until` (ISO 8601). */
  before: z.array(z.object({ secret: z.string(), until: z.string() })),
});

export type CredentialContent = z.infer<typeof CredentialContent>;

/** Binds a sealed text to its owner and name: it does not open for another client or name. It is not secret. */
function sealingContext({ owner, name }: CredentialPlace): Record<string, string> {
  return { ...owner, name };
}

export function ownerText(owner: CredentialOwner): string {
  return "client" in owner ? `client:${owner.client}` : `workflow:${owner.workflow}`;
}

/** Opens the sealed content of a record. Throws `CredentialLocked`. */
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

/** Combines new values with the secrets that they replace. */
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

/** All texts to mask for this credential: its secrets and recently replaced ones. */
export function secretsIn(kind: CredentialKindName, { values, before }: CredentialContent): string[] {
  return [...secretTexts(kind, values), ...before.map(({ secret }) => secret)];
}

/** A credential does not open: it was changed, or sealed with another key or for another owner or name. */
export class CredentialLocked extends Error {
  override name = "CredentialLocked";

  constructor(options?: ErrorOptions) {
    super("it does not open: it was changed, or sealed with a key that is not here - store it again", options);
  }
}
