import { z } from "zod";
import type {
  CredentialCipher,
  CredentialKindName,
  CredentialOwner,
  CredentialPlace,
  CredentialRecord,
} from "../../ports/credentials.ts";
import { type CredentialValues, secretTexts } from "./kinds.ts";

/** How long a value that was replaced is still looked for: nodes that began with it may be running. */
const rememberedMs = 7 * 24 * 60 * 60 * 1000;
const maxRemembered = 20;

/** What is sealed. */
const CredentialContent = z.object({
  format: z.literal(1),
  values: z.record(z.string(), z.unknown()),
  /** Secrets that it had before, and until when (ISO 8601) they are masked. */
  before: z.array(z.object({ secret: z.string(), until: z.string() })),
});

export type CredentialContent = z.infer<typeof CredentialContent>;

/** Not secret, and bound to what is sealed: a text that is moved to another client or name does not open. */
function sealingContext({ owner, name }: CredentialPlace): Record<string, string> {
  return { ...owner, name };
}

export function ownerText(owner: CredentialOwner): string {
  return "client" in owner ? `client:${owner.client}` : `workflow:${owner.workflow}`;
}

/** Throws `CredentialLocked`. */
export async function openContent(cipher: CredentialCipher, record: CredentialRecord): Promise<CredentialContent> {
  return CredentialContent.parse(JSON.parse(await cipher.open(record.sealed, sealingContext(record))));
}

/** The next revision of a credential, or its first. */
export async function sealRecord(
  cipher: CredentialCipher,
  record: Omit<CredentialRecord, "format" | "sealed" | "key">,
  content: CredentialContent,
): Promise<CredentialRecord> {
  const { sealed, key } = await cipher.seal(JSON.stringify(content), sealingContext(record));
  return { format: 1, ...record, sealed, key };
}

/** New values, beside the secrets that they replace. */
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

/** All that nobody may see of it, now and for a while. */
export function secretsIn(kind: CredentialKindName, { values, before }: CredentialContent): string[] {
  return [...secretTexts(kind, values), ...before.map(({ secret }) => secret)];
}

/** A credential does not open: sealed with a key that is not here, for something else, or changed. */
export class CredentialLocked extends Error {
  override name = "CredentialLocked";

  constructor(options?: ErrorOptions) {
    super("it does not open - it was changed, or sealed with a key that is not here; store it anew", options);
  }
}
