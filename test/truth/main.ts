import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { WholeExecution } from "@nova/client";
import { root } from "../support/imports.ts";
import { modelServer } from "../support/model-server/model-server.ts";
import { type Deployed, openDeployed } from "./deployed.ts";
import { awsAt, shell } from "./environment.ts";
import { type Gap, type Moto, startMoto } from "./moto.ts";
import { differences, visited } from "./paths.ts";
import { type Place, placeAt } from "./place.ts";
import { CommandFailed, Processes } from "./processes.ts";
import { type Row, reportOf } from "./report.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { writeWorkflows } from "./workflows.ts";

/** Writes the progress to stderr, because only the table of results belongs on stdout. */
function tell(step: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${step}\n`);
}

/** The resources that this command has opened. They are closed in reverse order. */
class Opened extends AsyncDisposableStack {
  /** The temporary folder of this command. */
  folder = "";
  processes!: Processes;
  /** Whether the logs stay after the command has ended. */
  keepsLogs = false;

  async begin(): Promise<void> {
    this.folder = await mkdtemp(join(tmpdir(), "nova-truth-"));
    this.defer(() => (this.keepsLogs ? keepLogs(this.folder) : rm(this.folder, { recursive: true })));
    this.processes = this.use(new Processes(this.folder));
  }
}

async function keepLogs(folder: string): Promise<void> {
  const others = (await readdir(folder)).filter((name) => !name.endsWith(".log"));
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
}

/** Runs `npm run truth` and returns its exit code. */
async function truth(opened: Opened): Promise<number> {
  await opened.begin();
  const { folder, processes } = opened;
  tell("Python with moto");
  const python = await pythonWithMoto(processes);
  tell("NOVA on this machine");
  await mkdir(join(folder, "empty"));
  const local = await startLocal(processes, join(folder, "local"), join(folder, "empty"));
  const { deployed, moto } = await deployInto(opened, python);
  tell("writing workflows");
  const folders = await writeWorkflows(join(folder, "workflows"));
  await pinPrompt(processes, join(folder, "workflows/truth-pinned"), join(folder, "pinning"));
  return tellDifferences(opened, { deployed, local, moto, folders });
}

async function deployInto(opened: Opened, python: string): Promise<{ deployed: Deployed; moto: Moto }> {
  const { folder, processes } = opened;
  const [port, proxyPort, apiPort] = [await freePort(), await freePort(), await freePort()];
  tell("sandboxes and moto");
  const sandboxes = await startSandboxes(processes, join(folder, "sandboxes"));
  const moto = await startMoto(processes, { python, port, proxyPort, folder });
  await moto.script("bootstrap.py", sandboxes.E2B_API_KEY ?? "");
  tell("deploying all stacks");
  await deploy(processes, moto.url);
  const ports = { proxy: proxyPort, api: apiPort };
  const deployed = opened.use(await openDeployed(processes, { moto, ports, folder, sandboxes }));
  return { deployed, moto };
}

interface Both {
  deployed: Deployed;
  local: Place;
  moto: Moto;
  folders: string[];
}

async function tellDifferences(opened: Opened, { deployed, local, moto, folders }: Both): Promise<number> {
  const rows = await compare({ deployed, local, folders, tell });
  process.stdout.write(`${reportOf(rows, [notProven(await moto.gaps())])}\n`);
  opened.keepsLogs = rows.some(({ wrong }) => wrong.length > 0);
  return opened.keepsLogs ? 1 : 0;
}

/** Returns a note that lists the resource types that moto cannot create, and which were not checked for this reason. */
function notProven(gaps: readonly Gap[]): string {
  const types = [...new Set(gaps.map(({ type }) => type.replace("AWS::", "")))].sort();
  return `Not proven here: ${gaps.length} resources that moto cannot make (${types.join(", ")}).`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Resolves with the exit code 130 at the first signal. The command then ignores the failures of the work that the
 * signal has interrupted.
 */
function interruption(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(130));
  });
}

/** The answers of the models that write the node's code. */
const answers = [
  { needs_analysis: false, complexity: "simple" },
  { code: 'context["total"] = sum(context["lines"])' },
  { valid: true, reason: "the total is there" },
];

/** Lets a local model server write the code for the workflow's prompt, and pins that code in the workflow's folder. */
async function pinPrompt(processes: Processes, folder: string, dataDir: string): Promise<void> {
  await using models = await modelServer(answers.map((json) => ({ answer: { json } })));
  const env = { ...shell(), ...models.environment, NOVA_DATA_DIR: dataDir };
  const nova = (...args: string[]) =>
    processes.output([process.execPath, join(root, "node_modules/.bin/nova"), ...args], { cwd: root, env });
  await nova("run", folder, "--set", "lines=[19.5, 3]");
  await nova("lock", folder);
}

const requirements = fileURLToPath(new URL("moto/requirements.txt", import.meta.url));

/**
 * Returns the path of a Python that has moto. It creates a virtual environment on first use, in the cache of
 * node_modules.
 */
async function pythonWithMoto(processes: Processes): Promise<string> {
  const python = process.env.NOVA_PYTHON ?? "python3";
  const options = { cwd: root, env: shell() };
  const version = await processes.output([python, "--version"], options);
  const key = createHash("sha256").update(version).update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const folder = join(root, "node_modules/.cache/nova-truth", key);
  const own = join(folder, "bin/python");
  const complete = join(folder, "complete");
  if (existsSync(complete)) return own;
  // The folder may be incomplete if an earlier command was interrupted, so it is created again.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await processes.output([python, "-m", "venv", folder], options);
  await processes.output([own, "-m", "pip", "install", "--quiet", "--requirement", requirements], options);
  await writeFile(complete, "");
  return own;
}

const opened = new Opened();
let code = 1;
try {
  code = await Promise.race([truth(opened), interruption()]);
} catch (error) {
  opened.keepsLogs = true;
  tell(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}
tell("ending what was started");
await opened.disposeAsync();
if (opened.keepsLogs) tell(`what each process said is in ${opened.folder}`);
process.exit(code);

/** Deploys NOVA into the AWS at this endpoint, with `npm run deploy -- --stage production`. */
async function deploy(processes: Processes, endpoint: string): Promise<void> {
  const command = ["npm", "run", "deploy", "--", "--stage", "production"];
  const before = leftovers();
  try {
    const ended = await processes.run(command, { cwd: root, env: { ...shell(), ...awsAt(endpoint), CI: "true" } });
    if (ended.code !== 0) throw new CommandFailed(command, ended);
  } finally {
    // Removes the files synchronously, because an interrupted command ends soon afterwards.
    for (const name of leftovers().filter((one) => !before.includes(one))) rmSync(join(root, name));
  }
}

/** Returns the files with SST's compiled configuration. An interrupted SST does not remove these files. */
function leftovers(): string[] {
  return readdirSync(root).filter((name) => /^\.sst\.config\.\d+\.mjs$/.test(name));
}

const nova = [process.execPath, "node_modules/.bin/nova"];

/** Starts `nova local` and returns the variables that it prints, such as the address of E2B. */
async function startSandboxes(processes: Processes, dataDir: string): Promise<Record<string, string>> {
  const child = processes.stay("sandboxes", [...nova, "local"], inFolder(dataDir));
  const variables: Record<string, string> = {};
  await lineOf(child, "nova local", (line) => {
    const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    variables[name] = value;
    return name === "E2B_API_KEY";
  });
  return variables;
}

/** Starts NOVA on this machine with its REST API, for the comparison with the deployed NOVA. */
async function startLocal(processes: Processes, dataDir: string, empty: string): Promise<Place> {
  const command = [...nova, "dev", "--json", "--port", "0", "--smtp-port", "0", empty];
  const child = processes.stay("local", command, inFolder(dataDir));
  const greeting = JSON.parse(await lineOf(child, "nova dev", (line) => line.includes("api_key")));
  const { endpoints } = JSON.parse(await readFile(join(dataDir, "owner.json"), "utf8"));
  const keys = JSON.parse(await readFile(join(dataDir, "keys.json"), "utf8"));
  const { accessKeyId, secretAccessKey } = keys;
  const states = { endpoint: endpoints.states, accessKeyId, secretAccessKey };
  return placeAt("local", { url: greeting.url, apiKey: greeting.api_key, states }, processes);
}

function inFolder(dataDir: string) {
  return { cwd: root, env: { ...shell(), NOVA_DATA_DIR: dataDir, NOVA_FROZEN: "true" } };
}

/** Resolves with the first output line that `isIt` accepts. */
function lineOf(child: ChildProcess, name: string, isIt: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}: see its log`)));
    if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => isIt(line) && resolve(line));
  });
}

interface Compared {
  deployed: Deployed;
  local: Place;
  folders: readonly string[];
  tell(step: string): void;
}

/** Publishes the workflows to both clouds, runs every scenario in both, and returns the checks with their problems. */
async function compare({ deployed, local, folders, tell }: Compared): Promise<Row[]> {
  const places = [deployed.place, local] as const;
  tell("publishing");
  const publishing = await published(places, folders);
  // The scenarios need all workflows. If a workflow was not published, the function skips the scenarios.
  if (publishing.wrong.length > 0) return [publishing, unheard(deployed), roles(deployed)];
  const rows = [publishing];
  for (const scenario of scenarios) {
    tell(scenario.name);
    rows.push(await playedIn(places, scenario));
  }
  tell("what runs by the clock, and what was left to do");
  for (const name of ["nova-sweep", "nova-retain"]) await deployed.functions.invokeLater(name, {});
  await quiet(deployed);
  tell("comparing");
  return [...rows, await visitedStates(places), await verified(deployed.place), unheard(deployed), roles(deployed)];
}

type Places = readonly [deployed: Place, local: Place];

async function published(places: Places, folders: readonly string[]): Promise<Row> {
  const ends = await Promise.all(places.map((place) => place.cli("publish", ...folders)));
  const wrong = ends.flatMap(({ code, stdout, stderr }, index) =>
    code === 0 ? [] : [`${places[index]?.name}: nova publish ended with ${code}: ${lastLines(stdout + stderr)}`],
  );
  return { what: "published", looked: `${folders.length} workflows`, wrong };
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-5).join(" | ");
}

async function playedIn(places: Places, scenario: Scenario): Promise<Row> {
  const plays = await Promise.all(places.map((place) => play(place, scenario)));
  const [deployed, local] = plays as [Played, Played];
  const wrong = plays.flatMap((one) => one.wrong);
  const [there, here] = [deployed, local].map(({ executions }) => JSON.stringify(executions.map(brief).sort()));
  if (wrong.length === 0 && here !== there) wrong.push(`deployed: ${there}`, `local: ${here}`);
  return { what: scenario.name, looked: `${deployed.executions.length + local.executions.length} executions`, wrong };
}

interface Played {
  executions: WholeExecution[];
  wrong: string[];
}

async function play(place: Place, { run, status }: Scenario): Promise<Played> {
  try {
    const executions = await run(place);
    const others = executions.filter((one) => one.status !== status);
    const wrong = others.map((one) => `${place.name}: ${one.execution_id} is ${one.status}: ${one.error?.message}`);
    return { executions, wrong };
  } catch (error) {
    return { executions: [], wrong: [`${place.name}: ${error instanceof Error ? error.message : error}`] };
  }
}

/**
 * Returns the parts of an execution that must be equal in both clouds. Branches have no fixed order, so the path is
 * sorted. Values may contain times and ids, so only their keys count.
 */
function brief({ workflow, status, path, context, error }: WholeExecution): string {
  const failed = error && [error.class, error.node, error.message];
  return JSON.stringify([workflow, status, [...path].sort(), Object.keys(context).sort(), failed]);
}

/**
 * Waits until no function has run for two seconds. Until then, a running function may still cause invocations of other
 * functions.
 */
async function quiet({ functions }: Deployed): Promise<void> {
  for (let calm = 0; calm < 8; await setTimeout(250)) calm = functions.busy === 0 ? calm + 1 : 0;
}

async function visitedStates([deployed, local]: Places): Promise<Row> {
  const [there, here] = [await visited(deployed.states), await visited(local.states)];
  const machines = [...new Set([...there.keys(), ...here.keys()])].sort();
  const wrong = machines.flatMap((machine) =>
    differences(there.get(machine) ?? [], here.get(machine) ?? []).map((line) => `${machine}: ${line}`),
  );
  const count = [...there.values()].reduce((sum, executions) => sum + executions.length, 0);
  return { what: "visited states", looked: `${count} executions of ${machines.length} state machines`, wrong };
}

async function verified(place: Place): Promise<Row> {
  const wrong: string[] = [];
  const executions = await Array.fromAsync(place.nova.executions.list());
  for (const { execution_id, workflow } of executions) {
    const { code, stdout, stderr } = await place.cli("verify", execution_id, "--json");
    const state = code === 0 ? JSON.parse(stdout).state : lastLines(stdout + stderr);
    if (state !== "anchored") wrong.push(`${execution_id} of ${workflow}: ${state}`);
  }
  return { what: "chains of work", looked: `${executions.length} by nova verify`, wrong };
}

function unheard({ functions: { failures } }: Deployed): Row {
  const wrong = failures.map(({ name, message }) => `${name}: ${message}`);
  return { what: "what rules, queues and schedules invoked", looked: "every invocation", wrong };
}

function roles(deployed: Deployed): Row {
  const { count, askers, refused } = deployed.checkRoles();
  const wrong = Array.from(refused, ([line, times]) => `${line} (${times} times)`).sort();
  return { what: "requests within roles", looked: `${count} requests of ${askers.size} askers`, wrong };
}
