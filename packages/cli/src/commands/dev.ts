import { spawn } from "node:child_process";
import { setFlagsFromString } from "node:v8";
import type { CloudOptions, LocalApi, LocalCloud } from "@nova/local";
import { closeCloud, openCloud } from "../cloud.ts";
import { publisherOf, workflowFoldersIn } from "../dev/publisher.ts";
import { type DevReporter, holdReports, jsonReporter, textReporter, watchQueue } from "../dev/reporter.ts";
import { watchFolders } from "../dev/watch-folders.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readAndParse } from "../input/workflow.ts";
import { Interrupt } from "../interrupt.ts";
import { noTerminal, printError, printOutput, styled } from "../output/terminal.ts";
import { offerPackages } from "../packages.ts";
import { command } from "./command.ts";

type Limits = NonNullable<CloudOptions["limits"]>;

const hint = "runs are in progress; Ctrl-C again interrupts them";

export const dev = command({
  summary: "open the local cloud with its REST API and mail server, and publish folders when they change",
  takes: {
    "[folders...]": {
      says: "folders with workflow.json or workflow.ts, or folders that contain such folders",
      absent: ["."],
    },
    "--port <number>": { says: "port of the REST API", absent: "3000" },
    "--host <name>": {
      says: "another host name of the API, such as a tunnel to this machine (repeatable)",
      each: true,
    },
    "--smtp-port <number>": { says: "port of the mail server", absent: "2525" },
    "--open": "open the console in the browser",
    "--e2b-plan <plan>": { says: "apply the limits of this E2B plan: hobby, pro or none", absent: "none" },
  },
  json: "print JSON objects, a line each; the first is {url, api_key, smtp, console}",
  async run(args, { port, host, smtpPort, e2bPlan, open, json }) {
    const roots = args.flat();
    const ports = { api: portOf("--port", port), smtp: portOf("--smtp-port", smtpPort) };
    const { hostName } = await import("@nova/local");
    const hosts = host.map((text) => hostName(text) ?? refuseHost(text));
    const limits = await limitsOf(e2bPlan);
    keepWithin(limits);
    const [interrupt, tell] = [new Interrupt(), holdReports(json ? jsonReporter : textReporter)];
    process.env.POWERTOOLS_LOG_LEVEL ??= "ERROR"; // NOVA reports its own failures on stderr.
    const folders = (await Promise.all(roots.map(workflowFoldersIn))).flat();
    await offerPackages(await Promise.all(folders.map(readAndParse)), json ? noTerminal : undefined);
    const { cloud, queue } = await openOwnCloud(tell, limits);
    // The servers for requests and for mails. A server that closes accepts no new requests or mails, but still answers
    // the requests in progress.
    const doors = new AsyncDisposableStack();
    try {
      const { openApi, openMail } = await import("@nova/local");
      const onFailure = (error: unknown) => printError(String(error));
      // Vite is loaded only if a browser requests the console and the console is not built yet.
      const page = async () => (await import("@nova/console/build")).buildPage();
      const api = doors.adopt(await openApi(cloud, { port: ports.api, hosts, onFailure, page }), (one) => one.close());
      const mail = doors.adopt(await openMail(cloud, { port: ports.smtp }), (one) => one.close());
      greet(api, `smtp://127.0.0.1:${mail.port}`, json === true);
      // Limits the memory that V8 reserves for new objects. On a machine with 24 GB, a burst of runs used 128 MB
      // without this limit. With the limit it uses 64 MB and is as fast (`npm run bench at-once`).
      setFlagsFromString("--semi-space-growth-factor=1");
      if (open) openBrowser(api.consoleLink());
      tell.release();
      using _ = queue.watch(tellProblem);
      const publish = publisherOf(cloud, api.key, tell.published);
      await publish(...roots);
      using _watch = await watchFolders(roots, (root, news) => {
        if (news !== "changed") printError(`nova: ${root} is ${newsText[news]}`);
        // The folder is published again, because the deletion of a workflow may have freed the id of the
        // folder.
        publish(root).catch(tellProblem);
      });
      await interrupt.requested();
    } finally {
      await closeCloud(cloud, interrupt, hint, doors);
    }
    return undefined;
  },
});

function portOf(option: string, text: unknown): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new InvalidInput(`${option} ${text} is not a port - use a whole number from 0 (any free port) to 65535`);
}

function refuseHost(text: string): never {
  throw new InvalidInput(`--host ${text} is not a host name - write it like nova.example.com, without scheme and path`);
}

async function limitsOf(plan: unknown): Promise<Limits> {
  const { e2bPlans } = await import("@nova/local");
  const known = Object.entries(e2bPlans).find(([name]) => name === plan);
  if (known) return known[1];
  throw new InvalidInput(`--e2b-plan ${plan} is not a plan of E2B - use one of ${Object.keys(e2bPlans).join(", ")}`);
}

/**
 * Sets the limits of an E2B plan in the environment variables that a deployment for this plan would have. Variables
 * that are already set stay unchanged.
 */
function keepWithin({ createsPerSecond, concurrent }: Limits): void {
  if (createsPerSecond) process.env.NOVA_E2B_CREATES_PER_SECOND ??= String(createsPerSecond);
  if (concurrent) process.env.NOVA_E2B_CONCURRENT ??= String(concurrent);
}

type OwnCloud = { cloud: LocalCloud; queue: ReturnType<typeof watchQueue> };

/** Opens the cloud as its owner. Throws `InvalidInput` if another process has opened the data folder. */
async function openOwnCloud(tell: DevReporter, limits: Limits): Promise<OwnCloud> {
  const opened = Promise.withResolvers<OwnCloud>();
  opened.promise.catch(() => undefined);
  const cloud = await openCloud({
    fires: true,
    limits,
    onUnstarted: tell.unstarted,
    async onProgress(event) {
      const { cloud, queue } = await opened.promise;
      queue.noteStart(event.execution);
      if (event.state !== "ended") return tell.step(event);
      const record = await cloud.ports.executions.get(event.execution);
      if (record) tell.ended(record);
    },
  });
  const queue = watchQueue(cloud.ports.executions, tell);
  opened.resolve({ cloud, queue });
  if (cloud.role === "owner") return { cloud, queue };
  await cloud.close();
  const wayOut = "end that one, or choose another data folder (NOVA_DATA_DIR)";
  throw new InvalidInput(`another process has opened ${cloud.dataDir} - ${wayOut}`);
}

function greet({ url, key, consoleLink }: LocalApi, smtp: string, json: boolean): void {
  const link = consoleLink();
  const text = [
    `${styled("bold", "mail")}  ${smtp}`,
    `${styled("bold", "API")}   ${url}  ${styled("dim", "(its document: /openapi.json)")}`,
    `${styled("bold", "key")}   ${key.text}`,
    `${styled("bold", "page")}  ${styled("cyan", link)}  ${styled("dim", "(signs in once)")}`,
    styled("dim", "Ctrl-C ends this"),
  ];
  printOutput({ json: { url, api_key: key.text, smtp, console: link }, text }, json);
}

const newsText = {
  gone: "gone - its published versions stay, and it is watched again when it is back",
  back: "back, and watched again",
};

function tellProblem(error: unknown): void {
  printError(`nova: ${error instanceof Error ? error.message : error}`);
}

const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a URL in the user's browser. Does nothing if the machine has no browser, because `nova dev` also prints the
 * URL.
 */
export function openBrowser(address: string): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}

export const local = command({
  summary: "open the local cloud, print the variables for its clients, and stay",
  async run(_, { json }) {
    const interrupt = new Interrupt();
    const cloud = await openCloud();
    const text = Object.entries(cloud.environment).map(([name, value]) => `${name}=${value}`);
    printOutput({ json: cloud.environment, text }, json);
    const others = cloud.role === "guest" ? "another process's cloud" : "the local cloud";
    printError(styled("dim", `${others} of ${cloud.dataDir}; Ctrl-C ends this`));
    const lost = await Promise.race([interrupt.requested(), cloud.ending.then(() => true)]);
    await cloud.close({ interrupt: true });
    if (lost) printError("nova: the process that owned the data folder has ended - start nova local again");
    return lost ? exitCodes.failed : exitCodes.completed;
  },
});
