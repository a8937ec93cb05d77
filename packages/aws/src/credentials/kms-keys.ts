import { DecryptCommand, EncryptCommand, GenerateDataKeyCommand, type KMSClient } from "@aws-sdk/client-kms";
import { StoreUnavailable } from "@nova/engine";
import { reaching } from "../clients/outage.ts";
import { type CredentialKeys, loadSdk } from "./cipher.ts";

/**
 * Seals with one key of KMS. What others have sealed opens as far as the role may use their keys: a rotation needs no
 * more than a new `keyId` here, and `kms:Decrypt` on the old one until it is done.
 */
export function kmsKeys(client: KMSClient, keyId: string): CredentialKeys {
  return {
    current: async () => keyId,
    async sealing() {
      const { KmsKeyringNode } = await loadSdk();
      return new KmsKeyringNode({ generatorKeyId: keyId, clientProvider: () => callsOf(client) });
    },
    async opening() {
      const { KmsKeyringNode } = await loadSdk();
      let outage: StoreUnavailable | undefined;
      const onOutage = (error: StoreUnavailable) => {
        outage = error;
      };
      const keyring = new KmsKeyringNode({ discovery: true, clientProvider: () => callsOf(client, onOutage) });
      return { keyring, outage: () => outage };
    },
    renew: async () => undefined,
    forgetOld: async () => undefined,
  };
}

interface Calls {
  generateDataKey(input: object): Promise<never>;
  encrypt(input: object): Promise<never>;
  decrypt(input: object): Promise<never>;
}

/** What a keyring calls. It keeps errors of decryption to itself, in words that do not tell an outage from a wrong key. */
function callsOf(client: KMSClient, onOutage: (error: StoreUnavailable) => void = () => undefined): Calls {
  const asked = async (call: () => Promise<unknown>) => {
    try {
      return (await reaching("KMS", call)) as never;
    } catch (error) {
      if (error instanceof StoreUnavailable) onOutage(error);
      throw error;
    }
  };
  return {
    generateDataKey: (input) => asked(() => client.send(new GenerateDataKeyCommand(input as never))),
    encrypt: (input) => asked(() => client.send(new EncryptCommand(input as never))),
    decrypt: (input) => asked(() => client.send(new DecryptCommand(input as never))),
  };
}
