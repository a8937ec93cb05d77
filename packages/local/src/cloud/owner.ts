import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { E2bServer } from "@nova/e2b-local";
import { interruptedError, mayImportPackages, sweep } from "@nova/engine";
import type { Workflow } from "@nova/workflow";
import { heard } from "../deliveries/heard.ts";
import { openAdmin } from "./admin-server.ts";
import { CounterBook, requestCounter, serveOwnRequests, tapRequests } from "./counting.ts";
import { openEndpoints } from "./endpoints.ts";
import { enterEnvironment, environmentOf } from "./environment.ts";
import type { Keys } from "./keys.ts";
import type { LocalCloud, RoomyOptions } from "./local-cloud.ts";
import { type FolderLock, newOwner, removeOwner, writeOwner } from "./owner-file.ts";
import { Progress } from "./progress.ts";
import { servicePorts } from "./service.ts";
import { createStores } from "./stores.ts";
import { keepSweeping } from "./sweeping.ts";
import { prepareTemplate } from "./templates.ts";

/** How long guests and open requests may take, once their runs were interrupted, to read what became of them. */
const goodbyeMs = 10_000;

/**
 * Opens every endpoint in this process, for itself and for guests. What others left open is swept before they come. Where
 * the folder takes no writes, nothing of the folder is changed and no guest hears of this process.
 */
export async function openAsOwner(
  options: RoomyOptions,
  keys: Keys,
  lock: FolderLock,
  opening: Promise<E2bServer>,
): Promise<LocalCloud> {
  const { dataDir, room } = options;
  const [instance, counters, progress] = [randomUUID(), new CounterBook(), new Progress(options.onProgress)];
  // What a predecessor that was killed has left behind names endpoints that are gone.
  const isWritten = room.isThere;
  if (isWritten) await removeOwner(dataDir);
  const admin = await openAdmin({ adminKey: keys.adminKey, instance, counters, progress });
  const opened = await openEndpoints(options, keys, opening, progress);
  const endpoints = { ...opened.urls, admin: admin.url };
  const environment = environmentOf(dataDir, endpoints, keys);
  enterEnvironment(environment);
  const count = requestCounter(counters, endpoints, opened.e2b);
  const [stopCounting, stopServing] = [tapRequests(count), serveOwnRequests(opened.asked, count)];
  if (isWritten) await createStores();
  /** It is made when it is asked for, which is before any of its sandboxes. */
  const templateFor = (workflow: Workflow) => {
    if (mayImportPackages(workflow)) opened.e2b.wantPackages();
    return prepareTemplate(dataDir, workflow.requirements);
  };
  const service = await servicePorts(dataDir, environment, templateFor);
  // The functions of this process have the same ports.
  if (options.onUnstarted) service.deliveries = heard(service.deliveries, options.onUnstarted);
  // What a predecessor that was killed had at work is over now, and whoever watches hears of it.
  const { closed } = isWritten ? await sweep(service) : { closed: [] };
  for (const execution of closed) progress.end(execution);
  // All of the above has happened while its Python started.
  await opened.e2b.ready();
  if (options.drives === false) admin.guests.onDriver(opened.drive);
  else opened.drive();
  if (isWritten) writeOwner(dataDir, newOwner(endpoints, instance));
  const sweeping = keepSweeping(service, room, options.fires === true);
  /** A slot that comes free is nobody's: no run begins that would be cut off, or keep this process for its whole queue. */
  const holdQueues = () => {
    if (service.admissions) service.admissions.held = true;
  };
  const shutDown = async () => {
    if (isWritten) await removeOwner(dataDir);
    await admin.close();
    stopServing(); // what is still on its way finds the endpoint itself, for as long as that is open
    await opened.close();
    stopCounting();
    lock.release();
  };
  /** An owner that is told to interrupt while it waits closes its endpoints once all the same. */
  let shut: Promise<void> | undefined;
  return {
    ...{ role: "owner", dataDir, environment, ports: service, service },
    lost: new Promise(() => {}),
    ending: new Promise(() => {}),
    warmed: () => opened.e2b.warmed(),
    templateFor,
    counters: async (execution) => counters.of(execution),
    untilEnd: (execution, listener) => progress.untilEnd(execution, listener),
    holdWork: opened.holdWork,
    isNeeded: () => admin.guests.count > 0 || opened.isAtWork(),
    async close({ interrupt = false, answered = Promise.resolve() } = {}) {
      sweeping.end();
      if (interrupt) {
        holdQueues();
        await opened.interrupt(interruptedError, "The process that ran it was stopped.");
        admin.guests.sayGoodbye();
      }
      const left = answered.then(() => admin.guests.lastOneLeft());
      const quiet = left.then(() => {
        holdQueues();
        return opened.rest();
      });
      await (interrupt ? Promise.race([quiet, sleep(goodbyeMs, undefined, { ref: false })]) : quiet);
      await sweeping.cutOff();
      shut ??= shutDown();
      await shut;
    },
  };
}
