import { kmsClient } from "../clients/clients.ts";
import type { CredentialKeys } from "./cipher.ts";
import { kmsKeys } from "./kms-keys.ts";
import { CredentialKeyInvalid, keyDerivedFrom, rawKeys } from "./raw-keys.ts";

type Variables = Record<string, string | undefined>;

/**
 * The keys that the environment names: of KMS (`NOVA_CREDENTIALS_KMS_KEY`), or 32 bytes in hex (`NOVA_CREDENTIALS_KEY`);
 * where it names neither, those of the vault serve here too.
 */
export function credentialKeysFrom(variables: Variables): CredentialKeys {
  const { NOVA_CREDENTIALS_KMS_KEY: kms, NOVA_CREDENTIALS_KEY: key, NOVA_CREDENTIALS_KEY_FILE: file } = variables;
  if (kms !== undefined) return kmsKeys(kmsClient(), kms);
  if (key !== undefined) return rawKeys({ keyHex: key, file });
  const { NOVA_VAULT_KMS_KEY: vaultKms, NOVA_VAULT_KEY: vaultKey } = variables;
  if (vaultKms !== undefined) return kmsKeys(kmsClient(), vaultKms);
  return vaultKey === undefined ? noKeys : rawKeys({ keyHex: keyDerivedFrom(vaultKey), file });
}

/** Whoever only stores other things needs none. */
const noKeys: CredentialKeys = {
  current: refuse,
  sealing: refuse,
  opening: refuse,
  renew: refuse,
  forgetOld: refuse,
};

async function refuse(): Promise<never> {
  throw new CredentialKeyInvalid(
    "credentials have no key - set NOVA_CREDENTIALS_KMS_KEY (a KMS key id) or NOVA_CREDENTIALS_KEY (64 hex digits) of the server",
  );
}
