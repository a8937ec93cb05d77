import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetExecutionHistoryCommand, SFNClient } from "@aws-sdk/client-sfn";
import { Sandbox } from "@e2b/code-interpreter";
import { compileWorkflow, type EmitOptions } from "@nova/compiler";
import {
  type FileInput,
  publishWorkflow,
  readTrace,
  Source,
  startExecution,
  type Trace,
  verifyExecution,
  type WorkflowVersion,
} from "@nova/engine";
import { type CloudOptions, type LocalCloud, openLocalCloud } from "@nova/local";
import { readWorkflowSource, type WorkflowSource } from "@nova/workflow";
import { inject } from "vitest";
import { chaoticFunctions } from "./chaos/chaotic-functions.ts";
import { keepPython, lendPython } from "./known-python.ts";

export interface TestCloud extends LocalCloud {
  publish(source: WorkflowSource | string | object, options?: EmitOptions): Promise<WorkflowVersion>;
  /** Starts a run, waits for its end and returns its trace. */
  run(version: WorkflowVersion, context?: string, files?: FileInput[]): Promise<Trace>;
  /** Runs a workflow that has one action with this code. */
  runCode(code: string, options?: { context?: string; node?: object; files?: FileInput[] }): Promise<Trace>;
}

/**
 * Opens a local cloud with its own data folder. A test file may open only one, because it sets environment variables of
 * the process.
 */
export async function openTestCloud(options: Partial<CloudOptions> = {}): Promise<TestCloud> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "nova-test-")));
  lendPython(dataDir);
  const cloud = await openLocalCloud({ dataDir, ...options });
  keepPython(dataDir);
  const publish: TestCloud["publish"] = async (source, options) => {
    const compiled = await compileWorkflow(await sourceOf(source), options);
    if (!compiled.workflow) throw new TypeError(JSON.stringify(compiled.findings, null, 1));
    const { workflow, definition, history } = compiled;
    const template = await cloud.templateFor(workflow);
    return publishWorkflow(cloud.ports, { workflow, stateMachine: definition, history, template });
  };
  const run: TestCloud["run"] = async (version, context = "{}", files = []) => {
    const { id } = await startExecution(cloud.ports, { version, context, files });
    await cloud.untilEnd(id);
    return readTrace(cloud.ports, id, { full: true });
  };
  const closeCloud = cloud.close.bind(cloud);
  return Object.assign(cloud, {
    publish,
    run,
    async runCode(
      code: string,
      { context, node = {}, files }: { context?: string; node?: object; files?: FileInput[] } = {},
    ) {
      return run(await publish(oneNode(code, node)), context, files);
    },
    async close() {
      await closeCloud();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  });
}

/**
 * Opens a local cloud that delivers every task twice and kills Lambdas. The Lambdas run from their bundle, which only
 * the Vitest project "chaos" builds.
 */
export async function openChaoticCloud(seed: number): Promise<TestCloud> {
  const { invokeLambda, close } = chaoticFunctions(seed, new URL(inject("bundledFunctions")));
  const cloud = await openTestCloud({ invokeLambda });
  const closeCloud = cloud.close;
  return Object.assign(cloud, { close: () => close(closeCloud) });
}

export function oneNode(code: string, node: object = {}): object {
  return inARow("one-node", { work: { code, ...node } });
}

/** Builds a workflow whose actions run one after the other. `actions` gives the code or the fields of each action. */
export function inARow(id: string, actions: Record<string, string | object>, workflow: object = {}): object {
  const path = ["start", ...Object.keys(actions), "end"];
  const nodes = Object.entries(actions).map(([node, fields]) => ({
    id: node,
    type: "action",
    ...(typeof fields === "string" ? { code: fields } : fields),
  }));
  return {
    id,
    ...workflow,
    nodes: [{ id: "start", type: "start" }, ...nodes, { id: "end", type: "end" }],
    edges: path.slice(1).map((to, index) => ({ from: path[index], to })),
  };
}

/** Returns the last entry of a node. */
export function entryOf(trace: Trace, node = "work"): Trace["entries"][number] {
  const entry = trace.entries.filter(({ node_id }) => node_id === node).at(-1);
  if (!entry) throw new RangeError(`node "${node}" has no entry; the path is ${trace.path.join(" > ")}`);
  return entry;
}

/** Returns the whole Step Functions history of a run as text. */
export async function historyText({ execution: { id, stateMachineArn } }: Trace): Promise<string> {
  const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:").replace(/:\d+$/, "")}:${id}`;
  const { events } = await new SFNClient().send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1000 }));
  return JSON.stringify(events);
}

/** Returns the ids of all sandboxes that exist and are not offered to other runs. */
export async function unoffered({ ports }: LocalCloud): Promise<string[]> {
  const offered = new Set((await ports.executions.idle()).map(({ idle }) => idle.id));
  const running = await Sandbox.list().nextItems();
  return running.map(({ sandboxId }) => sandboxId).filter((id) => !offered.has(id));
}

/**
 * Returns ids of sandboxes that a run recorded and did not offer to other runs, so it should have killed them. Leaves
 * out a sandbox if its delivery was killed before the delivery could record it, because E2B ends such a sandbox after
 * its lifetime.
 */
export async function strays(cloud: LocalCloud): Promise<string[]> {
  const had = new Map<string, number>();
  const { items } = await cloud.ports.executions.list({ limit: 1_000 });
  for (const { id } of items) {
    const heads = Array.from((await Source.read(cloud.ports, id)).entries.values(), ({ head }) => head);
    const used = new Set(heads.map(({ sandbox_id }) => sandbox_id ?? ""));
    for (const sandbox of used) had.set(sandbox, (had.get(sandbox) ?? 0) + 1);
    const { entry } = (await cloud.ports.chain.tip(id, "")).find((link) => link.entry) ?? {};
    const { close } = JSON.parse(entry?.head ?? "{}") as { close?: { idle?: string[] } };
    for (const sandbox of close?.idle ?? []) had.set(sandbox, (had.get(sandbox) ?? 0) - 1);
  }
  return (await unoffered(cloud)).filter((id) => had.get(id) !== 0);
}

export async function verified(cloud: LocalCloud, trace: Trace): Promise<string> {
  const { state, problem } = await verifyExecution(cloud.ports, trace.execution.id);
  return problem ? `${state}: ${problem.message}` : state;
}

async function sourceOf(source: WorkflowSource | string | object): Promise<WorkflowSource> {
  if (typeof source === "string") return readWorkflowSource(source);
  if ("text" in source) return source as WorkflowSource;
  return { text: JSON.stringify(source), fileName: "workflow.json", files: {} };
}
