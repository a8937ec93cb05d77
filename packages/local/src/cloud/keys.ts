import { randomBytes } from "node:crypto";
import { linkSync } from "node:fs";
import { access, chmod, constants, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughDraft } from "@nova/serve-local";
import { defined } from "@nova/workflow";
import { LocalCloudError } from "./errors.ts";

/** The secrets of one data folder. Every user who can read the folder can use its cloud. */
export interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
  e2bApiKey: string;
  signingKey: string;
  adminKey: string;
}

/** Reads the keys of the data folder, or creates them. Processes that do so at the same time get the same keys. */
export function readKeys(dataDir: string): Promise<Keys> {
  return keysFrom(dataDir, randomBytes(32).toString("hex"));
}

/** Works like `readKeys`. If it creates keys, they have this `signingKey`. */
async function keysFrom(dataDir: string, signingKey: string): Promise<Keys> {
  await makePrivateFolder(dataDir);
  const path = join(dataDir, "keys.json");
  const text = await readIfThere(path);
  if (text !== undefined) return parseKeys(text, path);
  createWhole(path, JSON.stringify({ ...randomKeys(), signingKey }, null, 2));
  return parseKeys(await readFile(path, "utf8"), path);
}

/** Creates a file in one step, so that no reader sees a part of it. Leaves an existing file unchanged. */
function createWhole(path: string, text: string): void {
  throughDraft(path, text, 0o600, (draft) => {
    try {
      linkSync(draft, path);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  });
}

function randomKeys(): Omit<Keys, "signingKey"> {
  return {
    accessKeyId: `NOVA${randomBytes(8).toString("hex").toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString("base64url"),
    // E2B's SDK accepts only a key of this form.
    e2bApiKey: `e2b_${randomBytes(20).toString("hex")}`,
    adminKey: randomBytes(24).toString("base64url"),
  };
}

function parseKeys(text: string, path: string): Keys {
  const advice = `${path} is not a key file of NOVA - restore it, or start with another data folder (NOVA_DATA_DIR)`;
  let keys: Partial<Keys>;
  try {
    keys = JSON.parse(text);
  } catch (cause) {
    throw new LocalCloudError(advice, { cause });
  }
  const { accessKeyId, secretAccessKey, e2bApiKey, signingKey, adminKey } = keys;
  if (!accessKeyId || !secretAccessKey || !e2bApiKey || !signingKey || !adminKey) throw new LocalCloudError(advice);
  return { accessKeyId, secretAccessKey, e2bApiKey, signingKey, adminKey };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** The secrets that verify the entries of a folder and decrypt its credentials. */
export interface FolderSecrets {
  signingKey: string;
  /** Text of the file with the keys of credentials, if the folder has one. */
  credentialKeys?: string;
  /** Text of the file with the keys of proofs after the first one, if the folder has one. */
  proofKeys?: string;
}

const credentialsFile = "credential-keys.json";
export const proofKeysFile = "proof-keys.json";

export async function readSecrets(dataDir: string): Promise<FolderSecrets> {
  const { signingKey } = JSON.parse(await readFile(join(dataDir, "keys.json"), "utf8")) as Keys;
  const credentialKeys = await readIfThere(join(dataDir, credentialsFile));
  const proofKeys = await readIfThere(join(dataDir, proofKeysFile));
  return { signingKey, ...defined({ credentialKeys, proofKeys }) };
}

/** Reads the secrets of a folder. Returns undefined if the folder has no keys yet. */
export async function readSecretsIfThere(dataDir: string): Promise<FolderSecrets | undefined> {
  return (await readIfThere(join(dataDir, "keys.json"))) === undefined ? undefined : readSecrets(dataDir);
}

/** Restores secrets before the cloud opens. Throws `LocalCloudError` if the folder has other keys. */
export async function restoreSecrets(dataDir: string, secrets: FolderSecrets): Promise<void> {
  const { signingKey, credentialKeys, proofKeys } = secrets;
  await keysFrom(dataDir, signingKey);
  if ((await readSecrets(dataDir)).signingKey !== signingKey) {
    throw new LocalCloudError(
      `${dataDir} signs with a key of its own, with which nothing of the export would verify - import it into an empty data folder (NOVA_DATA_DIR)`,
    );
  }
  await createIfAbsent(join(dataDir, credentialsFile), credentialKeys);
  await createIfAbsent(join(dataDir, proofKeysFile), proofKeys);
}

async function createIfAbsent(path: string, text: string | undefined): Promise<void> {
  if (text === undefined) return;
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

/** Files with values of runs, with keys, or with names of clients. NOVA closes them to other users. */
const holdsData = /^(?:dynamodb\.sqlite|keys\.json|credential-keys\.json|proof-keys\.json|api-key|owner\.json)/;
const dataFolders = new Set(["s3", "states", "events", "schedules", "mail", "incoming-mail", "demo", "batch"]);
/**
 * Files and folders of NOVA that hold no data: about Python and its packages, and an empty lock file. NOVA does not
 * close them to other users.
 */
const harmless = new Set(["python.json", "templates", "docstrings", "owner.lock", "lost+found"]);

/** The permission bits of all users but the owner. */
const others = 0o077;

/** Makes a data folder, or closes an existing one to all users but its owner. Throws `LocalCloudError`. */
export async function makePrivateFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await closeFolder(dataDir);
  } catch (cause) {
    if (cause instanceof LocalCloudError) throw cause;
    const advice = "make it a folder that you may write to, or name another one in NOVA_DATA_DIR";
    throw new LocalCloudError(`the data folder ${dataDir} cannot be used - ${advice}`, { cause });
  }
}

async function closeFolder(dataDir: string): Promise<void> {
  const { uid, mode } = await stat(dataDir);
  const isWritable = (mode & 0o222) !== 0;
  // Windows has no user ids, and a read-only folder stays as it is.
  const own = process.getuid?.();
  if (own === undefined || !isWritable) return;
  const names = await readdir(dataDir);
  const isNew = !names.some((name) => name.startsWith("keys.json"));
  if (uid !== own) {
    const mayWrite = await access(dataDir, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (!mayWrite) return;
    throw refused(dataDir, `belongs to another user (${uid}), who could read everything in it`);
  }
  const foreign = names.find((name) => !name.startsWith(".") && !holds(name) && !harmless.has(name));
  if (isNew && foreign !== undefined && (mode & others) !== 0)
    throw refused(dataDir, `is open to other users and has other files in it, such as ${foreign}`);
  await Promise.all([closeToOthers(dataDir), ...names.filter(holds).map((name) => closeToOthers(join(dataDir, name)))]);
}

function holds(name: string): boolean {
  return holdsData.test(name) || dataFolders.has(name);
}

function refused(dataDir: string, why: string): LocalCloudError {
  const advice = "name a folder of your own in NOVA_DATA_DIR, or make this one yours alone (chown, chmod 700)";
  return new LocalCloudError(`the data folder ${dataDir} ${why} - ${advice}`);
}

/**
 * Closes a file to other users. It skips a file that disappears meanwhile, or that is on a disk without permissions.
 */
async function closeToOthers(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & others) !== 0) await chmod(path, mode & 0o700);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOENT", "EROFS", "ENOTSUP", "EPERM"].includes(code)) throw error;
  }
}
