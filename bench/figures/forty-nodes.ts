import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import type { WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { publishChain, runChain } from "../chains.ts";
import { type Bench, type Figure, median, rounded, timed } from "../figure.ts";
import { langGraph } from "../langgraph.ts";

const nodes = 40;
const rounds = 5;
/** "Warm" is a server that has been at work for a while: by then the engine's code is compiled. */
const warmUps = 10;
const valueBytes = 5_000_000;

/**
 * 40 code nodes with the whole audit, against 40 bare interpreter starts and 40 steps of LangGraph with SQLite; against
 * the latter also with a value in the state that no node touches.
 */
export const fortyNodes: Bench = async (cloud) => {
  const version = await publishChain(cloud, nodes);
  for (let run = 0; run < warmUps; run++) await runChain(cloud, version);
  return [
    await againstBareStarts(cloud, version),
    await againstLangGraph(cloud, version, { rounds, bytes: 0 }),
    await againstLangGraph(cloud, version, { rounds: 2, bytes: valueBytes }),
  ];
};

async function againstBareStarts(cloud: LocalCloud, version: WorkflowVersion): Promise<Figure> {
  const python = interpreter();
  const chain: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < rounds; round++) {
    chain.push((await runChain(cloud, version)).wallMs);
    bare.push(await timed(() => bareStarts(python)));
  }
  const ratio = median(chain) / median(bare);
  return {
    name: `${nodes} code nodes in a row, warm, against ${nodes} bare python3 -c`,
    aim: "at most 0.5 x",
    value: rounded(ratio),
    met: ratio <= 0.5,
    detail: { nova_ms: rounded(median(chain), 0), python_ms: rounded(median(bare), 0), rounds },
  };
}

async function againstLangGraph(
  cloud: LocalCloud,
  version: WorkflowVersion,
  { rounds, bytes }: { rounds: number; bytes: number },
): Promise<Figure> {
  const rival = await langGraph(cloud.dataDir);
  const state = bytes > 0 ? ` and ${bytes / 1e6} MB in the state` : "";
  const figure = {
    name: `${nodes} code nodes in a row, against ${nodes} steps of LangGraph with SQLite${state}`,
    aim: "not slower",
  };
  if (!rival.run) return { ...figure, value: null, met: null, detail: { skipped: rival.why } };
  const context = JSON.stringify(bytes > 0 ? { big: "x".repeat(bytes) } : {});
  const chain: number[] = [];
  const graph: number[] = [];
  for (let round = 0; round < rounds; round++) {
    chain.push((await runChain(cloud, version, [], context)).wallMs);
    graph.push(await rival.run(nodes, bytes));
  }
  const [chainMs, graphMs] = [median(chain), median(graph)];
  return {
    ...figure,
    value: rounded(chainMs / graphMs),
    met: chainMs <= graphMs,
    detail: { nova_ms: rounded(chainMs, 0), langgraph_ms: rounded(graphMs, 0), rounds },
  };
}

/** The interpreter itself: what `python3` names may be a shell script that looks for it, and ten times slower. */
function interpreter(): string {
  return execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
}

async function bareStarts(python: string): Promise<void> {
  for (let i = 0; i < nodes; i++) await once(spawn(python, ["-c", "n = 1"], { stdio: "ignore" }), "exit");
}
