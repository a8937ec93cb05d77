import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Delivery, DeliveryStore, Eraser, ServicePorts } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { PythonMissing } from "./python-packages.ts";

/** The ports whose eraser `addMailErasure` has already wrapped. */
const erasesMails = new WeakSet<ServicePorts>();

/** The environment for which the ports of this process were made. */
let entered = "";

/**
 * Returns the service's ports in this process for `environment`. Ports that were made for an earlier cloud are dropped.
 */
export async function servicePorts(
  dataDir: string,
  environment: Record<string, string>,
  templateFor: (workflow: Workflow) => Promise<string>,
): Promise<ServicePorts> {
  const { resetServicePorts, provideTemplates, warmServicePorts } = await import("@nova/functions");
  const entering = JSON.stringify(environment);
  if (entering !== entered) resetServicePorts();
  entered = entering;
  provideTemplates({ of: (workflow) => refuseUninstallable(templateFor(workflow)) });
  const ports = warmServicePorts();
  if (!erasesMails.has(ports)) ports.eraser = addMailErasure(ports.eraser, join(dataDir, "mail"));
  erasesMails.add(ports);
  return ports;
}

/** Turns a requirement that cannot be installed into an error of the published definition. */
async function refuseUninstallable(making: Promise<string>): Promise<string> {
  try {
    return await making;
  } catch (error) {
    if (!(error instanceof PythonMissing)) throw error;
    const { Refused } = await import("@nova/service");
    throw new Refused(error.message, [], { cause: error });
  }
}

/**
 * The number of bytes that are read from the start of a mail. The headers of a mail that NOVA sends are far shorter.
 */
const headBytes = 16 * 1024;

/** Wraps an eraser so that it also removes the mails in `folder` that are about the erased run or client. */
function addMailErasure(eraser: Eraser, folder: string): Eraser {
  return {
    contents: (at) => eraser.contents(at),
    blobs: (home) => eraser.blobs(home),
    rest: (client, cursor) => eraser.rest(client, cursor),
    async traces(execution) {
      await eraser.traces(execution);
      await removeMails(folder, "x-nova-execution", execution);
    },
    async objects(client) {
      await eraser.objects(client);
      await removeMails(folder, "x-nova-client", client);
    },
  };
}

async function removeMails(folder: string, header: string, value: string): Promise<void> {
  const line = new RegExp(`^${header}: ${value}\\r?$`, "im");
  // The folder is absent before the first mail. A mail may be gone, because several executions are erased at the same
  // time.
  const ignoreAbsent = (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  };
  for (const name of (await readdir(folder).catch(ignoreAbsent)) ?? []) {
    const path = join(folder, name);
    if (name.endsWith(".eml") && line.test((await headOf(path).catch(ignoreAbsent)) ?? ""))
      await rm(path, { force: true });
  }
}

async function headOf(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.toString("latin1", 0, bytesRead).split(/\r?\n\r?\n/, 1)[0] ?? "";
}

/** A delivery that was refused or failed, so that it started no run. */
export type Unstarted = Delivery & { status: "refused" | "failed"; reason: string };

/**
 * The number of accepted deliveries that are remembered. Older ones are dropped, because some deliveries may never
 * finish.
 */
const remembered = 1_000;

/** Wraps the store so that `observe` receives each delivery that starts no run. */
export function observeDeliveries(store: DeliveryStore, observe: (unstarted: Unstarted) => void): DeliveryStore {
  const accepted = new LRUCache<string, Delivery>({ max: remembered });
  const report = (delivery: Delivery) => isUnstarted(delivery) && observe(delivery);
  return {
    list: (query) => store.list(query),
    async begin(delivery) {
      const existing = await store.begin(delivery);
      if (delivery.status === "accepted") accepted.set(delivery.key, delivery);
      if (existing?.status !== "started") report(delivery);
      return existing;
    },
    async finish(key, outcome) {
      await store.finish(key, outcome);
      const delivery = accepted.get(key);
      accepted.delete(key);
      if (delivery) report({ ...delivery, ...outcome });
    },
  };
}

function isUnstarted(delivery: Delivery): delivery is Unstarted {
  return (delivery.status === "refused" || delivery.status === "failed") && delivery.reason !== null;
}
