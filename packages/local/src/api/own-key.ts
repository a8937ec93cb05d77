import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "@nova/serve-local";
import { authenticate, createKey, type Principal, type ServicePorts, Unauthenticated } from "@nova/service";
import { monotonicFactory } from "ulid";

/** The admin API key in the data folder. Every user who can read the folder can use it. */
export interface OwnKey {
  /** The text that a client sends with requests. */
  text: string;
  principal: Principal;
}

const nextId = monotonicFactory();

/**
 * Reads the data folder's own key from `api-key` (mode 0600), so that other terminals keep their key when the API
 * restarts. Creates a new key if the file is missing or its key is no longer valid. Only the owner of the folder may
 * call this.
 */
export async function readOwnKey(dataDir: string, ports: ServicePorts): Promise<OwnKey> {
  const path = join(dataDir, "api-key");
  const kept = await readFile(path, "utf8").catch(() => undefined);
  const principal = kept === undefined ? undefined : await findAdmin(ports, kept.trim());
  if (kept !== undefined && principal) return { text: kept.trim(), principal };
  const { text } = await createKey(ports, null, { ulid: nextId(), role: "admin", name: "this machine" });
  if (text === undefined) throw new RangeError("the id of a new key is taken - start again");
  writeWhole(path, `${text}\n`, 0o600);
  return { text, principal: await authenticate(ports, text) };
}

async function findAdmin(ports: ServicePorts, text: string): Promise<Principal | undefined> {
  try {
    const principal = await authenticate(ports, text);
    return principal.role === "admin" && principal.client === null ? principal : undefined;
  } catch (error) {
    if (error instanceof Unauthenticated) return undefined;
    throw error;
  }
}
