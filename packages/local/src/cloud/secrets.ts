import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LocalCloudError } from "./errors.ts";
import { hasCode, type Keys, keysFrom, readIfThere } from "./keys.ts";

/** Without these nothing that a data folder holds can be proven, or opened: to be kept like the folder itself. */
export interface FolderSecrets {
  /** HMAC key of the close entries. */
  signingKey: string;
  /** Text of the file with the keys of credentials, where there are any. */
  credentialKeys?: string;
}

const credentialsFile = "credential-keys.json";

export async function readSecrets(dataDir: string): Promise<FolderSecrets> {
  const { signingKey } = JSON.parse(await readFile(join(dataDir, "keys.json"), "utf8")) as Keys;
  const credentialKeys = await readIfThere(join(dataDir, credentialsFile));
  return { signingKey, ...(credentialKeys !== undefined && { credentialKeys }) };
}

/** Undefined where the folder has no keys yet. */
export async function readSecretsIfThere(dataDir: string): Promise<FolderSecrets | undefined> {
  return (await readIfThere(join(dataDir, "keys.json"))) === undefined ? undefined : readSecrets(dataDir);
}

/** Before the cloud is opened. A folder that has keys keeps them: throws `LocalCloudError` where they are others. */
export async function restoreSecrets(dataDir: string, { signingKey, credentialKeys }: FolderSecrets): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await keysFrom(dataDir, signingKey);
  const { signingKey: there } = await readSecrets(dataDir);
  if (there !== signingKey) {
    throw new LocalCloudError(
      `${dataDir} signs with a key of its own, with which nothing of the export would verify - import it into an empty data folder (NOVA_DATA_DIR)`,
    );
  }
  if (credentialKeys === undefined) return;
  try {
    await writeFile(join(dataDir, credentialsFile), credentialKeys, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}
