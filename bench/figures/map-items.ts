import { executionOf } from "@nova/engine";
import { countingCode, publishBetween, publishChain, runChain } from "../chains.ts";
import { type Bench, median, rounded } from "../figure.ts";

const items = 1_000;
const chainLength = 100;
const rounds = 3;

/**
 * Compares the time of an item of a map with the time of a node in a chain. Each item has its own scope and sandbox.
 */
export const mapItems: Bench = async (cloud) => {
  const body = { nodes: [{ id: "count", type: "action", code: countingCode }], edges: [] };
  const version = await publishBetween(
    cloud,
    "bench-map",
    [{ id: "each", type: "map", items: "list", ...body }],
    [
      { from: "start", to: "each" },
      { from: "each", to: "end" },
    ],
  );
  const chain = await publishChain(cloud, chainLength);
  const list = (count: number) => JSON.stringify({ list: Array.from({ length: count }, (_, i) => i) });
  await runChain(cloud, version, [], list(10));
  await runChain(cloud, chain);
  const [perItem, perNode]: number[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    perNode?.push((await runChain(cloud, chain)).wallMs / chainLength);
    const { id, wallMs } = await runChain(cloud, version, [], list(items));
    const { status } = await executionOf(cloud.ports, id);
    if (status !== "completed") throw new RangeError(`the map of ${items} items ended as ${status}: ${id}`);
    perItem?.push(wallMs / items);
  }
  const [itemMs, nodeMs] = [median(perItem ?? []), median(perNode ?? [])];
  return [
    {
      name: `a map of ${items} items of one trivial node: time per item against a node in a chain`,
      aim: "at most 1.5 x",
      value: rounded(itemMs / nodeMs),
      met: itemMs / nodeMs <= 1.5,
      detail: { item_ms: rounded(itemMs, 1), node_ms: rounded(nodeMs, 1), rounds },
    },
  ];
};
