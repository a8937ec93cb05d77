import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { GetScheduleCommand, ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { eventOf, gatewayAnswer, type HttpApiAnswer, send } from "../../packages/aws-local/src/http-api/payload.ts";
import { root } from "../support/imports.ts";
import { checkRoles } from "./access/check.ts";
import { awsAt, region, shell } from "./environment.ts";
import { type Deployment, unpack } from "./lambda/deployment.ts";
import { Functions } from "./lambda/functions.ts";
import { bodyOf, listen } from "./lambda/http.ts";
import { openProxy } from "./lambda/proxy.ts";
import type { Moto } from "./moto.ts";
import { type Place, placeAt } from "./place.ts";
import type { Processes } from "./processes.ts";

/** The NOVA that is deployed into moto. Its functions run as processes on this machine. */
export interface Deployed extends AsyncDisposable {
  place: Place;
  functions: Functions;
  /** Checks all AWS requests so far against the roles of the functions. */
  checkRoles(): ReturnType<typeof checkRoles>;
}

interface Options {
  moto: Moto;
  ports: { proxy: number; api: number };
  folder: string;
  /** Environment variables that direct E2B's SDK to the local E2B. */
  sandboxes: Record<string, string>;
}

export async function openDeployed(processes: Processes, options: Options): Promise<Deployed> {
  const { moto, ports, folder, sandboxes } = options;
  await using opened = new AsyncDisposableStack();
  const deployment = await unpack(await moto.script("deployed.py"), join(folder, "functions"));
  const proxyUrl = `http://127.0.0.1:${ports.proxy}`;
  const { E2B_API_URL = "", E2B_SANDBOX_URL = "" } = sandboxes;
  const variables = {
    AWS_ENDPOINT_URL: proxyUrl,
    AWS_REGION: "us-east-1",
    AWS_SECRET_ACCESS_KEY: "of-its-role",
    E2B_API_URL,
    E2B_SANDBOX_URL,
    NOVA_S3_PATH_STYLE: "true",
  };
  const functions = opened.use(new Functions(deployment.functions, variables, folder));
  const proxy = opened.use(await openProxy({ port: ports.proxy, endpoint: moto.url, functions }));
  opened.use(await openHttpApi(functions, ports.api));
  const apiKey = await firstKey(processes, deployment, moto);
  const states = { endpoint: moto.url, accessKeyId: "truth", secretAccessKey: "truth" };
  const place = placeAt("deployed", { url: `http://127.0.0.1:${ports.api}`, apiKey, states }, processes);
  const resources = opened.move();
  return {
    place: { ...place, fireSchedules: (workflow) => fireSchedules(moto.url, functions, workflow) },
    functions,
    checkRoles: () => checkRoles(proxy.requests, deployment),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Creates the first API key as the README says, by writing to the table. */
async function firstKey(processes: Processes, { functions }: Deployment, moto: Moto): Promise<string> {
  const NOVA_TABLE = functions[0]?.environment.NOVA_TABLE ?? "";
  const command = [process.execPath, "node_modules/.bin/nova", "keys", "create", "--role", "admin", "--json"];
  const printed = await processes.output(command, { cwd: root, env: { ...shell(), ...awsAt(moto.url), NOVA_TABLE } });
  return JSON.parse(printed).key;
}

/** Invokes the targets of a workflow's schedules in moto, as EventBridge Scheduler does. */
async function fireSchedules(endpoint: string, functions: Functions, workflow: string): Promise<void> {
  const credentials = { accessKeyId: "truth", secretAccessKey: "truth" };
  const client = new SchedulerClient({ endpoint, region, credentials });
  const { Schedules = [] } = await client.send(new ListSchedulesCommand({ GroupName: "nova" }));
  for (const { Name } of Schedules.filter((one) => one.Name?.includes(workflow))) {
    const { Target } = await client.send(new GetScheduleCommand({ Name, GroupName: "nova" }));
    const [, , , , , , name = ""] = Target?.Arn?.split(":") ?? [];
    const input = (Target?.Input ?? "{}")
      .replaceAll("<aws.scheduler.scheduled-time>", new Date().toISOString())
      .replaceAll("<aws.scheduler.execution-id>", randomUUID());
    await functions.invokeLater(name, JSON.parse(input));
  }
  client.destroy();
}

/** Opens an HTTP API on this machine. It passes each request to the deployed function, as API Gateway does. */
async function openHttpApi(functions: Functions, port: number): Promise<AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const event = eventOf(request, await bodyOf(request), randomUUID(), Date.now());
    const outcome = await functions.invoke("nova-api", event);
    send(
      response,
      "answer" in outcome ? (outcome.answer as HttpApiAnswer) : gatewayAnswer(500, "Internal Server Error"),
    );
  });
  return { [Symbol.asyncDispose]: await listen(server, port) };
}
