import { setTimeout as sleep } from "node:timers/promises";
import { type Visit, visit } from "./admin-client.ts";
import { LocalCloudError } from "./errors.ts";
import { type FolderLock, lockFolder, type Owner, readOwner } from "./owner-file.ts";

/** What this process is to a data folder: the one that opens its cloud, or a guest of the one that did. */
export type Claim = { role: "owner"; lock: FolderLock } | { role: "guest"; owner: Owner; visit: Visit };

/** An owner opens its endpoints in about a second. */
const ownerTimeoutMs = 30_000;
const retryMs = 20;

/**
 * Of any number of processes at once exactly one becomes the owner. The others wait until its endpoints answer; if it
 * dies meanwhile, or was about to close, one of them takes its place.
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
    const visited = owner && (await visit(owner, adminKey, drives));
    if (visited) return { role: "guest", owner, visit: visited };
    // Whoever cannot write disturbs nobody.
    if (isReadOnly) return { role: "owner", lock: { release: () => undefined } };
    if (Date.now() > giveUp) {
      const who = owner ? `process ${owner.pid}` : "another process";
      const advice = "end it, or choose another data folder (NOVA_DATA_DIR)";
      throw new LocalCloudError(`${who} owns ${dataDir} and does not answer - ${advice}`);
    }
  }
}
