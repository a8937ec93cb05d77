import { spawn } from "node:child_process";
import { once } from "node:events";
import type { WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { publishChain, runChain } from "../chains.ts";
import { atMost, type Bench, type Figure, median, rounded, skippedFigure, timed } from "../figure.ts";
import { interpreter, langGraph, openRestate, type Restate } from "../rivals.ts";

const nodes = 40;
const rounds = 5;
/**
 * The number of runs before the measurement. After them, the process has compiled its code, like a server that has
 * worked for a while.
 */
const warmUps = 10;
const valueBytes = 5_000_000;

/**
 * Compares the time of a run of 40 code nodes, which writes its whole chain, with the time of bare starts of Python.
 * Then compares the run with rivals that isolate their steps in the same way.
 */
export const fortyNodes: Bench = async (cloud) => {
  const version = await publishChain(cloud, nodes);
  for (let run = 0; run < warmUps; run++) await runChain(cloud, version);
  return [await againstBareStarts(cloud, version), ...(await againstRivals(cloud, version))];
};

async function againstBareStarts(cloud: LocalCloud, version: WorkflowVersion): Promise<Figure> {
  const python = await interpreter();
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

async function againstRivals(cloud: LocalCloud, version: WorkflowVersion): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const large = `LangGraph with SQLite and ${valueBytes / 1e6} MB in the state`;
  const rivals: [name: string, bytes: number, rounds: number, open: () => Promise<() => Promise<number>>][] = [
    ["LangGraph with SQLite", 0, rounds, async () => (await langGraph()).bind(undefined, nodes)],
    [large, valueBytes, 2, async () => (await langGraph()).bind(undefined, nodes, { bytes: valueBytes })],
    ["Restate", 0, rounds, async () => restateChain(stack.use(await openRestate()))],
  ];
  const figures: Figure[] = [];
  for (const [rival, bytes, rounds, open] of rivals) {
    const compared = [
      1.5,
      `${nodes} code nodes in a row, against ${nodes} steps of ${rival} behind the same walls`,
    ] as const;
    try {
      const rivalRun = await open();
      await rivalRun();
      const context = JSON.stringify(bytes > 0 ? { big: "x".repeat(bytes) } : {});
      const [ours, theirs]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        ours.push((await runChain(cloud, version, [], context)).wallMs);
        theirs.push(await rivalRun());
      }
      const [nova_ms, rival_ms] = [rounded(median(ours), 0), rounded(median(theirs), 0)];
      figures.push(atMost(...compared, nova_ms / rival_ms, { nova_ms, rival_ms, rounds }));
    } catch (error) {
      figures.push(skippedFigure(...compared, error));
    }
  }
  return figures;
}

function restateChain(restate: Restate): () => Promise<number> {
  return () => restate.runAll(1, nodes);
}

async function bareStarts(python: string): Promise<void> {
  for (let i = 0; i < nodes; i++) await once(spawn(python, ["-c", "n = 1"], { stdio: "ignore" }), "exit");
}
