import { resolve } from "node:path";
import { DiskSpace } from "@nova/aws-local";
import { claimFolder } from "./claim.ts";
import { LocalCloudError } from "./errors.ts";
import { readKeys } from "./keys.ts";
import type { CloudOptions, EndpointOptions, LocalCloud } from "./local-cloud.ts";
import { describeIneffective } from "./variables.ts";

/**
 * Opens the cloud of a data folder, or uses the cloud of the process that owns the folder. Points the SDKs of this
 * process at it, so call it before creating a client; a process has one cloud at a time. A read-only folder opens only
 * with `drives: false`. Throws `LocalCloudError`.
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
    const { noSandboxes, openSandboxes } = await import("./sandboxes.ts");
    const opening = disk.hasSpace ? openSandboxes(options, keys) : Promise.resolve(noSandboxes);
    const { openAsOwner } = await import("./owner.ts");
    return await openAsOwner(options, keys, claim.lock, opening);
  } catch (error) {
    claim.lock.release();
    throw error;
  }
}
