import { randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { DiskSpace } from "@nova/aws-local";
import type { E2bServer } from "@nova/e2b-local";
import { interruptedError, mayImportLargeModules, sweep } from "@nova/engine";
import { httpServer, openServer } from "@nova/serve-local";
import type { ServicePorts } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import { CounterBook, requestCounter, serveOwnCalls, serveOwnSandboxes, tapRequests } from "./counting.ts";
import { openEndpoints } from "./endpoints.ts";
import { enterEnvironment, environmentOf } from "./environment.ts";
import { Guests } from "./guests.ts";
import type { Keys } from "./keys.ts";
import type { EndpointOptions, LocalCloud } from "./local-cloud.ts";
import { type FolderLock, newOwner, removeOwner, writeOwner } from "./owner-file.ts";
import { Progress } from "./progress.ts";
import { observeDeliveries, servicePorts } from "./service.ts";
import { createStores } from "./stores.ts";
import { prepareTemplate } from "./templates.ts";

/** The time that guests and open requests get to read the results after an interrupt. */
const goodbyeMs = 10_000;

/**
 * Opens every endpoint in this process, for this process and its guests. Sweeps the runs that earlier processes left
 * open. In a read-only folder it writes nothing, so other processes do not find this one.
 */
export async function openAsOwner(
  options: EndpointOptions,
  keys: Keys,
  lock: FolderLock,
  opening: Promise<E2bServer>,
): Promise<LocalCloud> {
  const { dataDir, disk } = options;
  const [instance, counters, progress] = [randomUUID(), new CounterBook(), new Progress(options.onProgress)];
  // If the folder can be written, the `owner.json` of a killed owner is removed first, because it names endpoints that
  // no longer exist.
  const isWritten = disk.hasSpace;
  if (isWritten) await removeOwner(dataDir);
  const admin = await openAdmin({ adminKey: keys.adminKey, instance, counters, progress });
  const opened = await openEndpoints(options, keys, opening, progress);
  const endpoints = { ...opened.urls, admin: admin.url };
  const environment = environmentOf(dataDir, endpoints, keys);
  enterEnvironment(environment);
  const counter = requestCounter(counters, endpoints, opened.e2b);
  const stopCounting = tapRequests(counter.onAnswered);
  const stopServing = [serveOwnCalls(opened.asked, counter.onCalled), serveOwnSandboxes(opened.e2b, counter)];
  if (isWritten) await createStores();
  /** Prepares the template of a workflow, which must exist before a sandbox is created from it. */
  const templateFor = (workflow: Workflow) => {
    if (mayImportLargeModules(workflow)) opened.e2b.wantPackages();
    return prepareTemplate(dataDir, workflow.requirements);
  };
  const service = await servicePorts(dataDir, environment, templateFor);
  // The functions of this process use the same ports, so the deliveries of the functions are observed, too.
  if (options.onUnstarted) service.deliveries = observeDeliveries(service.deliveries, options.onUnstarted);
  // The sweep closes the runs on which a killed owner was working. Afterwards their listeners learn of the end.
  const { closed } = isWritten ? await sweep(service) : { closed: [] };
  for (const execution of closed) progress.end(execution);
  // This wait is short, because E2B has been starting Python since before the other endpoints opened.
  await opened.e2b.ready();
  if (options.drives === false) admin.guests.onDriver(opened.drive);
  else opened.drive();
  if (isWritten) writeOwner(dataDir, newOwner(endpoints, instance));
  const sweeping = keepSweeping(service, disk, options.fires === true);
  /**
   * Prevents starts of queued runs. A run that started now would be interrupted. Or this process would stay open until
   * its whole queue is empty.
   */
  const holdQueues = () => {
    if (service.admissions) service.admissions.held = true;
  };
  const shutDown = async () => {
    if (isWritten) await removeOwner(dataDir);
    await admin.close();
    for (const stop of stopServing) stop(); // Later calls of this process use the socket while it is open.
    await opened.close();
    stopCounting();
    lock.release();
  };
  /**
   * Resolves when the endpoints are closed; undefined until they begin to close. If an interrupt arrives while the
   * owner waits to close, this promise prevents a second close of the endpoints.
   */
  let shut: Promise<void> | undefined;
  return {
    role: "owner",
    dataDir,
    environment,
    ports: service,
    service,
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
        admin.guests.askToLeave();
      }
      const left = answered.then(() => admin.guests.untilLastLeft());
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

/** The interval between two sweeps, as in a deployment. */
const sweepEveryMs = 60_000;

/** The interval between two Merkle trees of closed runs, as in a deployment. */
const proveEveryMs = 60 * 60_000;

/**
 * Returns a function that puts closed runs into a tree if an hour has passed since the last tree. Another process may
 * have made the last tree.
 */
function provesHourly(service: ServicePorts): () => Promise<void> {
  let dueMs = 0;
  return async () => {
    if (service.clock.now() < dueMs) return;
    const { newestRoot, proveAndStamp } = await import("@nova/service");
    const newest = await newestRoot(service);
    const nextMs = newest ? Date.parse(newest.at) + proveEveryMs : 0;
    const isDue = service.clock.now() >= nextMs;
    const { problem } = isDue ? await proveAndStamp(service) : {};
    dueMs = isDue ? service.clock.now() + proveEveryMs : nextMs;
    if (problem !== undefined) process.emitWarning(`a root has no time stamp yet: ${problem}`);
  };
}

/**
 * Repeats lost work at intervals. If `atOnce` is true, runs that waited in queues when the last process ended start at
 * once.
 */
function keepSweeping(service: ServicePorts, disk: DiskSpace, atOnce: boolean) {
  const closing = new AbortController();
  /** The sweep under way, or the last one. The next one starts after it, so that sweeps never overlap. */
  let swept = Promise.resolve();
  const proveIfDue = provesHourly(service);
  const sweepNext = () => {
    swept = swept.then(() => sweepOnce(service, disk, proveIfDue, closing.signal));
  };
  if (atOnce) sweepNext();
  const timer = setInterval(sweepNext, sweepEveryMs).unref();
  return {
    end: () => clearInterval(timer),
    /** Stops the sweep under way. Otherwise it would still try every open run after the stores are closed. */
    cutOff() {
      closing.abort();
      return swept;
    },
  };
}

async function sweepOnce(
  service: ServicePorts,
  disk: DiskSpace,
  proveIfDue: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (!disk.hasSpace) return;
  try {
    const { eraseExpired, sweepService } = await import("@nova/service");
    const { broken } = await sweepService(service, { signal });
    for (const { part, error } of broken) {
      process.emitWarning(`the sweeper failed at ${part} and will try again: ${error}`);
    }
    if (signal.aborted) return;
    const [first, ...others] = (await eraseExpired(service)).failed;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    if (first) process.emitWarning(`retention failed at ${first.id}${more} and will try again: ${first.reason}`);
    if (!signal.aborted) await proveIfDue();
  } catch (error) {
    process.emitWarning(`the sweeper failed and will try again: ${error}`);
  }
}

interface AdminOptions {
  adminKey: string;
  instance: string;
  counters: CounterBook;
  progress: Progress;
}

/**
 * Opens the endpoint through which other processes talk to the owner of a data folder. `GET /health` identifies the
 * owner, `GET /counters/<id>` returns the cost of an execution, and `GET /progress/<id>` streams its events until it
 * ends. A guest keeps `GET /guest` open as long as it needs the cloud, or `GET /guest/driving` if it also wants
 * executions to continue.
 */
export async function openAdmin(options: AdminOptions) {
  const guests = new Guests();
  const server = httpServer((request, response) => {
    if (isAuthorized(request, options.adminKey)) route(request, response, options, guests);
    else answer(response, 401, { message: "The admin key is wrong." });
  });
  return { guests, ...(await openServer(server, { breaksConnections: true })) };
}

function route(request: IncomingMessage, response: ServerResponse, options: AdminOptions, guests: Guests): void {
  const [, resource, id] = (request.url ?? "").split("/");
  if (resource === "health") answer(response, 200, { instance: options.instance });
  else if (resource === "counters" && id) answer(response, 200, options.counters.of(id));
  else if (resource === "progress" && id) follow(response, options.progress, id);
  else if (resource === "guest") welcome(response, guests, id === "driving");
  else answer(response, 404, { message: `There is nothing at ${request.url}.` });
}

function welcome(response: ServerResponse, guests: Guests, drives: boolean): void {
  if (!guests.admit(response, drives)) {
    answer(response, 503, { message: "The owner is closing." });
    return;
  }
  response.writeHead(200, { "content-type": "text/plain" });
  // Sends a first line at once, because Node sends the headers only together with the first part of the body.
  response.write("welcome\n");
}

/** Sends the events of an execution as they happen, each as one line of JSON. */
function follow(response: ServerResponse, progress: Progress, execution: string): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.flushHeaders();
  progress
    .untilEnd(execution, (event) => response.write(`${JSON.stringify(event)}\n`))
    .then(() => response.end(`${JSON.stringify({ ended: true })}\n`));
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function isAuthorized(request: IncomingMessage, adminKey: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${adminKey}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
