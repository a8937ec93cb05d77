import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { writeWhole } from "@nova/serve-local";
import { LocalCloudError } from "./errors.ts";
import { variableDigests } from "./variables.ts";

/** Addresses of the local endpoints. */
export interface Endpoints {
  dynamodb: string;
  s3: string;
  states: string;
  e2bApi: string;
  e2bSandbox: string;
  eventbridge: string;
  scheduler: string;
  sesv2: string;
  admin: string;
}

/** `.nova/owner.json`: who owns the data folder and where its endpoints are. Their keys are in `keys.json` beside it. */
export interface Owner {
  format: 1;
  pid: number;
  /** ISO 8601. */
  started: string;
  /** Random; the admin endpoint answers with the same, so that a file left by a dead owner deceives nobody. */
  instance: string;
  endpoints: Endpoints;
  keys: "keys.json";
  /** Digests of its variables that decide how nodes run, by name. */
  variables: Record<string, string>;
}

export function newOwner(endpoints: Endpoints, instance: string): Owner {
  const variables = variableDigests(process.env, instance);
  const started = new Date().toISOString();
  return { format: 1, pid: process.pid, started, instance, endpoints, keys: "keys.json", variables };
}

/** Only the process that holds the folder's lock writes this file. */
export function writeOwner(dataDir: string, owner: Owner): void {
  writeWhole(ownerPath(dataDir), `${JSON.stringify(owner, null, 2)}\n`, 0o600);
}

export async function removeOwner(dataDir: string): Promise<void> {
  await rm(ownerPath(dataDir), { force: true });
}

/** Undefined where there is no such file, or none that can be read: then nobody is known to own the folder. */
export async function readOwner(dataDir: string): Promise<Owner | undefined> {
  try {
    const owner: Owner = JSON.parse(await readFile(ownerPath(dataDir), "utf8"));
    const isWhole = typeof owner.endpoints?.admin === "string" && typeof owner.variables === "object";
    return owner.format === 1 && isWhole ? owner : undefined;
  } catch {
    return undefined;
  }
}

function ownerPath(dataDir: string): string {
  return join(dataDir, "owner.json");
}

/** The exclusive right to a data folder. The kernel takes it back from a process that dies, however it dies. */
export interface FolderLock {
  release(): void;
}

const SQLITE_BUSY = 5;

/**
 * Null: another process has it. A pid in a file would have to be doubted (dead? another process by now?); a lock of
 * the kernel need not, and SQLite's is the one that Node can take on every system.
 */
export function lockFolder(dataDir: string): FolderLock | null {
  const path = join(dataDir, "owner.lock");
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null;
    const advice = "delete that file if no other process uses the folder";
    throw new LocalCloudError(`${path} cannot be locked - ${advice}`, { cause: error });
  }
}
