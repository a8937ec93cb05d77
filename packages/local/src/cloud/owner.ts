import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { interruptedError, sweep } from "@nova/engine";
import { openAdmin } from "./admin-server.ts";
import { CounterBook } from "./counters.ts";
import { countRequests } from "./counting.ts";
import { type CloudOptions, openEndpoints } from "./endpoints.ts";
import { enterEnvironment, environmentOf } from "./environment.ts";
import type { FolderLock } from "./folder-lock.ts";
import type { Keys } from "./keys.ts";
import type { LocalCloud } from "./local-cloud.ts";
import { newOwner, removeOwner, writeOwner } from "./owner-file.ts";
import { Progress } from "./progress.ts";
import { createStores } from "./stores.ts";
import { prepareTemplate } from "./templates.ts";

/** As often as the schedule of the deployed sweeper. */
const sweepEveryMs = 60_000;

/** How long guests whose runs were interrupted may take to read what became of them. */
const goodbyeMs = 10_000;

/** Opens every endpoint in this process, for itself and for guests. */
export async function openAsOwner(options: CloudOptions, keys: Keys, lock: FolderLock): Promise<LocalCloud> {
  const { dataDir } = options;
  const [instance, counters, progress] = [randomUUID(), new CounterBook(), new Progress()];
  // What a predecessor that was killed has left behind names endpoints that are gone.
  await removeOwner(dataDir);
  const admin = await openAdmin({ adminKey: keys.adminKey, instance, counters, progress });
  const opened = await openEndpoints(options, keys, progress);
  const endpoints = { ...opened.urls, admin: admin.url };
  const environment = environmentOf(endpoints, keys);
  enterEnvironment(environment);
  const stopCounting = countRequests(counters, endpoints, opened.e2b);
  await createStores();
  const { warmPorts } = await import("@nova/functions");
  const ports = warmPorts();
  await sweep(ports);
  const sweeping = setInterval(
    () => sweep(ports).catch((error) => process.emitWarning(`the sweeper will try again: ${error}`)),
    sweepEveryMs,
  ).unref();
  await writeOwner(dataDir, newOwner(endpoints, instance));

  async function interruptAll(): Promise<void> {
    const cause = "The process that ran it was stopped.";
    for await (const { id, stateMachineArn } of ports.executions.open()) {
      await ports.stateMachines.stop(stateMachineArn, id, interruptedError, cause);
    }
    admin.guests.sayGoodbye();
  }

  return {
    role: "owner",
    dataDir,
    environment,
    ports,
    lost: new Promise(() => {}),
    ending: new Promise(() => {}),
    templateFor: (requirements) => prepareTemplate(dataDir, requirements),
    counters: async (execution) => counters.of(execution),
    untilEnd: (execution, listener) => progress.untilEnd(execution, listener),
    async close({ interrupt = false } = {}) {
      clearInterval(sweeping);
      if (interrupt) await interruptAll();
      const quiet = admin.guests.lastOneLeft().then(() => opened.states.idle());
      await (interrupt ? Promise.race([quiet, sleep(goodbyeMs, undefined, { ref: false })]) : quiet);
      await removeOwner(dataDir);
      await admin.close();
      await opened.close();
      stopCounting();
      lock.release();
    },
  };
}
