import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DiskSpace } from "@nova/aws-local";
import { joinOwner, type OwnerConnection } from "./admin-client.ts";
import { LocalCloudError } from "./errors.ts";
import { readKeys } from "./keys.ts";
import type { CloudOptions, EndpointOptions, LocalCloud } from "./local-cloud.ts";
import { describeIneffective, type FolderLock, lockFolder, type Owner, readOwner } from "./owner-file.ts";

/**
 * Opens the cloud of a data folder, or uses the cloud of the process that owns the folder. Points the SDKs of this
 * process at that cloud, so call this function before you create a client. A process has one cloud at a time. A
 * read-only folder opens only with `drives: false`. Throws `LocalCloudError`.
 */
export async function openLocalCloud(options: CloudOptions): Promise<LocalCloud> {
  const dataDir = resolve(options.dataDir);
  const { drives = true, warn } = options;
  let isOpen = false;
  const disk = new DiskSpace(dataDir, { warn: (sentence) => drives && isOpen && warn?.(sentence) });
  try {
    const cloud = await openWith({ ...options, dataDir, disk });
    isOpen = true;
    return cloud;
  } catch (error) {
    const refusal = disk.refusal(error);
    disk.close();
    throw refusal ? new LocalCloudError(refusal.message, { cause: error }) : error;
  }
}

async function openWith(options: EndpointOptions): Promise<LocalCloud> {
  const { dataDir, drives = true, disk } = options;
  const keys = await readKeys(dataDir);
  const claim = await claimFolder(dataDir, keys.adminKey, { drives, isReadOnly: disk.isReadOnly });
  if (claim.role === "guest") {
    const sentence = drives ? describeIneffective(process.env, claim.owner) : undefined;
    if (sentence !== undefined) options.warn?.(sentence);
    const { openAsGuest } = await import("./guests.ts");
    return openAsGuest(dataDir, keys, claim.owner, claim.visit);
  }
  try {
    disk.probe();
    if (drives) disk.requireSpace();
    const { noSandboxes, openSandboxes } = await import("./templates.ts");
    const opening = disk.hasSpace ? openSandboxes(options, keys) : Promise.resolve(noSandboxes);
    const { openAsOwner } = await import("./owner.ts");
    return await openAsOwner(options, keys, claim.lock, opening);
  } catch (error) {
    claim.lock.release();
    throw error;
  }
}

/** The role of this process for a data folder: it opens the cloud, or uses the cloud of another process. */
type Claim = { role: "owner"; lock: FolderLock } | { role: "guest"; owner: Owner; visit: OwnerConnection };

/** The longest wait for the endpoints of an owner, which usually opens them in about a second. */
const ownerTimeoutMs = 30_000;
const retryMs = 20;

/**
 * Makes exactly one of several processes the owner. The other processes wait until the owner's endpoints answer. If the
 * owner dies or closes meanwhile, one of the waiting processes becomes the owner.
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
    // Any number of processes may be owners of a read-only folder, because none of them writes anything that another
    // one reads.
    if (isReadOnly) return { role: "owner", lock: { release: () => undefined } };
    if (Date.now() > giveUp) {
      const who = owner ? `process ${owner.pid}` : "another process";
      const advice = "end it, or choose another data folder (NOVA_DATA_DIR)";
      throw new LocalCloudError(`${who} owns ${dataDir} and does not answer - ${advice}`);
    }
  }
}
