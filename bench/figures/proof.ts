import { createHash } from "node:crypto";
import { signRoot } from "@nova/engine";
import { type LocalApi, type LocalCloud, openApi } from "@nova/local";
import { countingCode, publishBetween, runChain } from "../chains.ts";
import { atMost, type Bench, type Figure, median, rounded, timed } from "../figure.ts";

const nodes = 1_000;
const rounds = 5;
const mostMs = 1_000;
/** Megabytes. */
const mostMb = 2;

/**
 * Measures the time and the size of the proof file of a run of 1,000 nodes: visits of a loop, and items of a map. Also
 * measures the time of a signature.
 */
export const proof: Bench = async (cloud) => {
  const loop = await publishBetween(
    cloud,
    "bench-proof-loop",
    [{ id: "count", type: "decision", code: `${countingCode}\ncontext["branch_decision"] = context["n"] < ${nodes}` }],
    [
      { from: "start", to: "count" },
      { from: "count", to: "count", condition: true, max: nodes },
      { from: "count", to: "end", condition: "default" },
    ],
  );
  const map = await publishBetween(
    cloud,
    "bench-proof-map",
    [
      {
        id: "each",
        type: "map",
        items: "list",
        nodes: [{ id: "count", type: "action", code: countingCode }],
        edges: [],
      },
    ],
    [
      { from: "start", to: "each" },
      { from: "each", to: "end" },
    ],
  );
  const list = JSON.stringify({ list: Array.from({ length: nodes }, (_, i) => i) });
  const ofLoop = await runChain(cloud, loop);
  const ofMap = await runChain(cloud, map, [], list);
  const server = await openApi(cloud, { port: 0 });
  try {
    return [
      await signingFigure(cloud),
      ...(await figuresOf(server, `a loop of ${nodes} visits`, ofLoop.id)),
      ...(await figuresOf(server, `a map of ${nodes} items`, ofMap.id)),
    ];
  } finally {
    await server.close();
  }
};

/** Measures the time of the signature of a run, and the time that one run adds to a root over 1,000 runs. */
async function signingFigure({ ports }: LocalCloud): Promise<Figure> {
  const leaves = Array.from({ length: nodes }, (_, index) => ({
    execution: `exec_${index}`,
    hash: createHash("sha256").update(String(index)).digest("hex"),
  }));
  const [signing, building]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const signAll = async () => {
      for (const { hash } of leaves) await ports.keyPair.sign(hash);
    };
    signing.push((await timed(signAll)) / nodes);
    building.push((await timed(() => signRoot(ports, undefined, leaves))) / nodes);
  }
  const [sign_ms, tree_ms] = [rounded(median(signing), 3), rounded(median(building), 3)];
  return atMost(
    1,
    "the signature of a run and its part of a root",
    sign_ms + tree_ms,
    { sign_ms, tree_ms, rounds },
    " ms",
  );
}

async function figuresOf(server: LocalApi, what: string, id: string): Promise<Figure[]> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    times.push(await timed(async () => (bytes = (await getProof(server, id)).byteLength)));
  }
  const detail = { longest_ms: rounded(Math.max(...times)), rounds };
  return [
    atMost(mostMs, `GET /executions/{id}/proof of ${what}, median`, median(times), detail, " ms"),
    atMost(mostMb, `the proof of ${what}, with digests`, bytes / 1024 / 1024, { bytes }, " MB"),
  ];
}

async function getProof({ url, key }: LocalApi, id: string): Promise<ArrayBuffer> {
  const headers = { authorization: `Bearer ${key.text}` };
  const answer = await fetch(`${url}/executions/${id}/proof`, { headers });
  if (!answer.ok) throw new RangeError(`the API answered ${answer.status}: ${await answer.text()}`);
  return answer.arrayBuffer();
}
