import type { CredentialRecord } from "../../ports/credential-store.ts";
import { askToken, isFresh, TokenRefused } from "./ask-token.ts";
import { type CredentialContent, replacing, sealRecord } from "./content.ts";
import { OAuth2 } from "./kinds/oauth2.ts";
import type { CredentialParts, OwnedCredential } from "./owned.ts";

/** As often as others may have been faster. */
const mostTries = 3;

/**
 * The values with an access token that lives for a minute at least; a new one is stored before it is used, because the
 * refresh token of before may be worth nothing now. Throws `TokenRefused`.
 */
export function freshContent(parts: CredentialParts, credential: OwnedCredential): Promise<CredentialContent> {
  return credential.refreshed(() => untilFresh(parts, credential));
}

async function untilFresh(parts: CredentialParts, credential: OwnedCredential): Promise<CredentialContent> {
  for (let tries = 1; ; tries++) {
    const content = await credential.content();
    const values = OAuth2.parse(content.values);
    if (isFresh(values, parts.now())) return content;
    try {
      const refreshed = await refresh(parts, credential.record, content, values);
      if (refreshed) {
        credential.become(refreshed.record, refreshed.content);
        return refreshed.content;
      }
    } catch (error) {
      // A server that gives a new refresh token with each use refuses the slower of two.
      if (!(error instanceof TokenRefused) || !(await isOvertaken(parts, credential))) throw error;
    }
    if (tries === mostTries) throw new TokenRefused("others keep changing it - try again in a minute");
    await readAgain(parts, credential);
  }
}

async function refresh(parts: CredentialParts, old: CredentialRecord, content: CredentialContent, values: OAuth2) {
  const next = replacing(await askToken(values, parts), { kind: "oauth2", content }, parts.now());
  const record = await sealRecord(parts.cipher, { ...placeOf(old), revision: old.revision + 1 }, next);
  return (await parts.store.put(record)) ? { record, content: next } : undefined;
}

function placeOf({ owner, name, kind, changedAt }: CredentialRecord) {
  return { owner, name, kind, changedAt };
}

async function isOvertaken({ store }: CredentialParts, { record }: OwnedCredential): Promise<boolean> {
  return (await store.get(record))?.revision !== record.revision;
}

async function readAgain({ store }: CredentialParts, credential: OwnedCredential): Promise<void> {
  const record = await store.get(credential.record);
  if (!record) throw new TokenRefused("it was removed meanwhile");
  credential.become(record);
}
