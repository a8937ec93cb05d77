import { type LocalApi, openApi } from "@nova/local";
import { countingCode, publishBetween, runChain } from "../chains.ts";
import { atMost, type Bench, type Figure, median, rounded, timed } from "../figure.ts";

const nodes = 1_000;
const rounds = 5;
const mostMs = 1_000;
/** Megabytes. */
const mostMb = 2;

/** Measures the time and the size of the proof file of a run of 1,000 nodes: visits of a loop, and items of a map. */
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
      ...(await figuresOf(server, `a loop of ${nodes} visits`, ofLoop.id)),
      ...(await figuresOf(server, `a map of ${nodes} items`, ofMap.id)),
    ];
  } finally {
    await server.close();
  }
};

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
