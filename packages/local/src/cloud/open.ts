import { resolve } from "node:path";
import { claimFolder } from "./claim.ts";
import type { CloudOptions } from "./cloud-options.ts";
import { readKeys } from "./keys.ts";
import type { LocalCloud } from "./local-cloud.ts";

/**
 * The cloud of a data folder: opened here, or another process's. Points the SDKs of this process at it, so it must be
 * called before a client is made, and a process has one cloud at a time. Throws `LocalCloudError`.
 */
export async function openLocalCloud(options: CloudOptions): Promise<LocalCloud> {
  const dataDir = resolve(options.dataDir);
  const keys = await readKeys(dataDir);
  const claim = await claimFolder(dataDir, keys.adminKey, options.drives !== false);
  if (claim.role === "guest") {
    const { openAsGuest } = await import("./guest.ts");
    return openAsGuest(dataDir, keys, claim.owner, claim.visit);
  }
  try {
    const { openSandboxes } = await import("./sandboxes.ts");
    const opening = openSandboxes({ ...options, dataDir }, keys);
    const { openAsOwner } = await import("./owner.ts");
    return await openAsOwner({ ...options, dataDir }, keys, claim.lock, opening);
  } catch (error) {
    claim.lock.release();
    throw error;
  }
}
