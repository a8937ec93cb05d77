import { resolve } from "node:path";
import { Room } from "@nova/aws-local";
import { claimFolder } from "./claim.ts";
import { LocalCloudError } from "./errors.ts";
import { readKeys } from "./keys.ts";
import type { CloudOptions, LocalCloud, RoomyOptions } from "./local-cloud.ts";
import { withoutEffect } from "./variables.ts";

/**
 * Opens the cloud of a data folder, or uses the cloud of the process that owns the folder. Points the SDKs of this
 * process at it, so call it before creating a client; a process has one cloud at a time. A read-only folder opens only
 * with `drives: false`. Throws `LocalCloudError`.
 */
export async function openLocalCloud(options: CloudOptions): Promise<LocalCloud> {
  const dataDir = resolve(options.dataDir);
  const { drives = true, warn } = options;
  let isOpen = false;
  const room = new Room(dataDir, { warn: (sentence) => drives && isOpen && warn?.(sentence) });
  try {
    const cloud = await openWith({ ...options, dataDir, room });
    isOpen = true;
    return cloud;
  } catch (error) {
    const refusal = room.refusal(error);
    room.close();
    throw refusal ? new LocalCloudError(refusal.message, { cause: error }) : error;
  }
}

async function openWith(options: RoomyOptions): Promise<LocalCloud> {
  const { dataDir, drives = true, room } = options;
  const keys = await readKeys(dataDir);
  const claim = await claimFolder(dataDir, keys.adminKey, { drives, isReadOnly: room.isReadOnly });
  if (claim.role === "guest") {
    const sentence = drives ? withoutEffect(process.env, claim.owner) : undefined;
    if (sentence !== undefined) options.warn?.(sentence);
    const { openAsGuest } = await import("./guests.ts");
    return openAsGuest(dataDir, keys, claim.owner, claim.visit);
  }
  try {
    room.try();
    if (drives) room.require();
    const { noSandboxes, openSandboxes } = await import("./sandboxes.ts");
    const opening = room.isThere ? openSandboxes(options, keys) : Promise.resolve(noSandboxes);
    const { openAsOwner } = await import("./owner.ts");
    return await openAsOwner(options, keys, claim.lock, opening);
  } catch (error) {
    claim.lock.release();
    throw error;
  }
}
