import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { httpServer, openServer } from "@nova/serve-local";
import type { CounterBook } from "./counting.ts";
import { Guests } from "./guests.ts";
import type { Progress } from "./progress.ts";

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
  // Sends a first line at once, because Node holds the headers back until there is a body.
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
