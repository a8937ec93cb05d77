import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { publishChain, runChain } from "../chains.ts";
import { type Bench, median, rounded, timed } from "../figure.ts";
import { langGraph } from "../langgraph.ts";

const nodes = 40;
const rounds = 5;

/** 40 code nodes with the whole audit, against 40 bare interpreter starts and 40 steps of LangGraph with SQLite. */
export const fortyNodes: Bench = async (cloud) => {
  const version = await publishChain(cloud, nodes);
  const python = interpreter();
  const rival = await langGraph(cloud.dataDir);
  await runChain(cloud, version);
  const chain: number[] = [];
  const bare: number[] = [];
  const graph: number[] = [];
  for (let round = 0; round < rounds; round++) {
    chain.push((await runChain(cloud, version)).wallMs);
    bare.push(await timed(() => bareStarts(python)));
    if (rival.run) graph.push(await rival.run(nodes));
  }
  const [chainMs, bareMs] = [median(chain), median(bare)];
  const againstBare = chainMs / bareMs;
  return [
    {
      name: `${nodes} code nodes in a row, warm, against ${nodes} bare python3 -c`,
      aim: "at most 0.5 x",
      value: rounded(againstBare),
      met: againstBare <= 0.5,
      detail: { nova_ms: rounded(chainMs, 0), python_ms: rounded(bareMs, 0), rounds },
    },
    rival.run
      ? {
          name: `${nodes} code nodes in a row, against ${nodes} steps of LangGraph with SQLite`,
          aim: "not slower",
          value: rounded(chainMs / median(graph)),
          met: chainMs <= median(graph),
          detail: { nova_ms: rounded(chainMs, 0), langgraph_ms: rounded(median(graph), 0), rounds },
        }
      : {
          name: `${nodes} code nodes in a row, against ${nodes} steps of LangGraph with SQLite`,
          aim: "not slower",
          value: null,
          met: null,
          detail: { skipped: rival.why },
        },
  ];
};

/** The interpreter itself: what `python3` names may be a shell script that looks for it, and ten times slower. */
function interpreter(): string {
  return execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
}

async function bareStarts(python: string): Promise<void> {
  for (let i = 0; i < nodes; i++) await once(spawn(python, ["-c", "n = 1"], { stdio: "ignore" }), "exit");
}
