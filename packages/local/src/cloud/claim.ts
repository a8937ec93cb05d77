import { setTimeout as sleep } from "node:timers/promises";
import { joinOwner, type OwnerConnection } from "./admin-client.ts";
import { LocalCloudError } from "./errors.ts";
import { type FolderLock, lockFolder, type Owner, readOwner } from "./owner-file.ts";

/** The role of this process for a data folder: it opens the cloud, or uses the cloud of another process. */
export type Claim = { role: "owner"; lock: FolderLock } | { role: "guest"; owner: Owner; visit: OwnerConnection };

/** An owner opens its endpoints in about a second. */
const ownerTimeoutMs = 30_000;
const retryMs = 20;

/**
 * Makes exactly one of any number of processes the owner. The others wait until its endpoints answer. If it dies or
 * closes meanwhile, one of them takes its place.
 */
export async function claimFolder(
  dataDir: string,
  adminKey: string,
  { drives, isReadOnly }: { drives: boolean; isReadOnly: boolean },
): Promise<Claim> {
  for (const giveUp = Date.now() + ownerTimeoutMs; ; await sleep(retryMs)) {
    const lock = isReadOnly ? null : lockFolder(dataDir);
    if (lock) return { role: "owner", lock };
    const owner = await readOwner(dataDir);
    const visited = owner && (await joinOwner(owner, adminKey, drives));
    if (visited) return { role: "guest", owner, visit: visited };
    // A process that cannot write does not disturb others.
    if (isReadOnly) return { role: "owner", lock: { release: () => undefined } };
    if (Date.now() > giveUp) {
      const who = owner ? `process ${owner.pid}` : "another process";
      const advice = "end it, or choose another data folder (NOVA_DATA_DIR)";
      throw new LocalCloudError(`${who} owns ${dataDir} and does not answer - ${advice}`);
    }
  }
}
