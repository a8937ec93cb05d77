import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { writeWhole } from "@nova/serve-local";
import { LocalCloudError } from "./errors.ts";

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

/** The file `.nova/owner.json`: the owner of the folder and its endpoints. `keys.json` has their keys. */
export interface Owner {
  format: 1;
  pid: number;
  /** The time when the owner started, in ISO 8601. */
  started: string;
  /**
   * A random id of the owner. The admin endpoint of the owner returns the same id. So a guest notices if a dead owner
   * has left this file.
   */
  instance: string;
  endpoints: Endpoints;
  keys: "keys.json";
  /** The owner's variables that decide how nodes run: a digest of each value, by name. */
  variables: Record<string, string>;
}

export function newOwner(endpoints: Endpoints, instance: string): Owner {
  const variables = variableDigests(process.env, instance);
  const started = new Date().toISOString();
  return { format: 1, pid: process.pid, started, instance, endpoints, keys: "keys.json", variables };
}

/** Writes the file; only the process that holds the folder's lock may call it. */
export function writeOwner(dataDir: string, owner: Owner): void {
  writeWhole(ownerPath(dataDir), `${JSON.stringify(owner, null, 2)}\n`, 0o600);
}

export async function removeOwner(dataDir: string): Promise<void> {
  await rm(ownerPath(dataDir), { force: true });
}

/** Reads the file. Returns undefined if it is missing or unreadable: the owner of the folder is then unknown. */
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

/** The exclusive right to a data folder. The kernel releases it when the process dies. */
export interface FolderLock {
  release(): void;
}

const SQLITE_BUSY = 5;

/**
 * Locks the folder. Returns null if another process has the lock. It stores no process id in a file, because the id
 * could be stale or reused. The kernel releases a lock when the process dies. SQLite takes the lock, because Node
 * itself has no lock that works on every system.
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

/** Variables that only the owner's process reads, because it runs the nodes. */
const ofTheOwner = [
  "DEFAULT_MODEL",
  "NOVA_EMBEDDING_MODEL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "NOVA_LLM_API",
  "NOVA_E2B_CONCURRENT",
  "NOVA_E2B_CREATES_PER_SECOND",
] as const;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns a digest of each variable that is set. It returns no values, because no file may contain a key. The digests
 * depend on `instance`, so they are useless for another owner.
 */
export function variableDigests(env: Variables, instance: string): Record<string, string> {
  return Object.fromEntries(
    ofTheOwner.flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, createHash("sha256").update(`${instance} ${name} ${value}`).digest("hex")]] : [];
    }),
  );
}

/** Returns a sentence about the variables of this process that have no effect, because the owner has other values. */
export function describeIneffective(
  env: Variables,
  { pid, instance, variables }: Pick<Owner, "pid" | "instance" | "variables">,
): string | undefined {
  const own = Object.entries(variableDigests(env, instance));
  const names = own.flatMap(([name, digest]) => (variables[name] === digest ? [] : [name]));
  if (names.length === 0) return undefined;
  const verb = names.length === 1 ? "has" : "have";
  return `${names.join(", ")} ${verb} no effect on nodes: process ${pid} runs them with its own settings - start that process with the same values, or choose another data folder (NOVA_DATA_DIR)`;
}
