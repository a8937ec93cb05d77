import { randomUUID } from "node:crypto";
import { sweep } from "@nova/engine";
import type { E2bServer } from "../e2b/open.ts";
import { openAdmin } from "./admin-server.ts";
import type { CloudOptions } from "./cloud-options.ts";
import { CounterBook } from "./counters.ts";
import { countRequests } from "./counting.ts";
import { openEndpoints } from "./endpoints.ts";
import { enterEnvironment, environmentOf } from "./environment.ts";
import type { FolderLock } from "./folder-lock.ts";
import type { Keys } from "./keys.ts";
import type { LocalCloud } from "./local-cloud.ts";
import { newOwner, removeOwner, writeOwner } from "./owner-file.ts";
import { OwnersCloud } from "./owners-cloud.ts";
import { Progress } from "./progress.ts";
import { servicePorts } from "./service.ts";
import { createStores } from "./stores.ts";

/** Opens every endpoint in this process, for itself and for guests. What others left open is swept before they come. */
export async function openAsOwner(
  options: CloudOptions,
  keys: Keys,
  lock: FolderLock,
  opening: Promise<E2bServer>,
): Promise<LocalCloud> {
  const { dataDir } = options;
  const [instance, counters, progress] = [randomUUID(), new CounterBook(), new Progress(options.onProgress)];
  // What a predecessor that was killed has left behind names endpoints that are gone.
  await removeOwner(dataDir);
  const admin = await openAdmin({ adminKey: keys.adminKey, instance, counters, progress });
  const opened = await openEndpoints(options, keys, opening, progress);
  const endpoints = { ...opened.urls, admin: admin.url };
  const environment = environmentOf(dataDir, endpoints, keys);
  enterEnvironment(environment);
  const stopCounting = countRequests(counters, endpoints, opened.e2b);
  await createStores();
  const service = await servicePorts(dataDir, environment);
  // What a predecessor that was killed had at work is over now, and whoever watches hears of it.
  const { closed } = await sweep(service);
  for (const execution of closed) progress.end(execution);
  if (options.drives === false) admin.guests.onDriver(opened.drive);
  else opened.drive();
  await writeOwner(dataDir, newOwner(endpoints, instance));
  return new OwnersCloud(
    {
      dataDir,
      environment,
      service,
      counters,
      progress,
      guests: admin.guests,
      opened,
    },
    async () => {
      await removeOwner(dataDir);
      await admin.close();
      await opened.close();
      stopCounting();
      lock.release();
    },
  );
}
