import { executionOf, planRestart, readTrace, restartExecution } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { countingCode, publishBetween, publishChain, randomFile, runChain } from "../chains.ts";
import { atMost, type Bench, type Figure, median, rounded, timed } from "../figure.ts";

const [length, from, rounds] = [100, 90, 3];
const items = 10_000;
const by = "bench";

/** Compares the time of a restart that reuses outcomes with the time of a run that runs the same nodes again. */
export const restart: Bench = async (cloud) => [...(await chainAgain(cloud)), await dryRunOfMap(cloud)];

async function chainAgain(cloud: LocalCloud): Promise<Figure[]> {
  const version = await publishChain(cloud, length);
  const file = randomFile("pdf", 1_000_000);
  await runChain(cloud, version);
  const [whole, again]: [number[], number[]] = [[], []];
  let ran = 0;
  let copied = 0;
  for (let round = 0; round < rounds; round++) {
    const { id, wallMs } = await runChain(cloud, version, [file]);
    whole.push(wallMs);
    const source = await executionOf(cloud.ports, id);
    const blobs = blobsOf(cloud);
    let restarted = "";
    again.push(
      await timed(async () => {
        const { execution } = await restartExecution(cloud.ports, { source, version, from: `n${from}`, by });
        restarted = execution.id;
        await cloud.untilEnd(restarted);
      }),
    );
    copied += blobs.put();
    const { execution, entries } = await readTrace(cloud.ports, restarted);
    if (execution.status !== "completed") throw new RangeError(`the restart ended as ${execution.status}`);
    ran += entries.filter(({ node_type, reused_from }) => node_type === "action" && !reused_from).length;
  }
  const name = `restart from node ${from} of ${length}:`;
  const [wholeMs, againMs] = [median(whole), median(again)];
  const detail = { whole_ms: rounded(wholeMs, 0), restart_ms: rounded(againMs, 0), rounds };
  return [
    atMost(0.5, `${name} time against the whole run`, againMs / wholeMs, detail),
    atMost(length - from + 1, `${name} nodes whose code runs`, ran / rounds, {}, ""),
    atMost(0, `${name} values that are copied`, copied, {}, ""),
  ];
}

/** Counts the large values that this process stores from now on. */
function blobsOf({ ports }: LocalCloud): { put(): number } {
  const { blobs } = ports;
  const stored = { ...blobs };
  let count = 0;
  blobs.put = (home, ref, ...rest) => {
    if (ref.bytes > 100_000) count++;
    return stored.put(home, ref, ...rest);
  };
  return {
    put() {
      blobs.put = stored.put;
      return count;
    },
  };
}

async function dryRunOfMap(cloud: LocalCloud): Promise<Figure> {
  const body = { nodes: [{ id: "count", type: "action", code: countingCode }], edges: [] };
  const version = await publishBetween(
    cloud,
    "bench-restarted-map",
    [
      { id: "each", type: "map", items: "list", as: "item", into: "all", ...body },
      { id: "after", type: "action", code: countingCode },
    ],
    [
      { from: "start", to: "each" },
      { from: "each", to: "after" },
      { from: "after", to: "end" },
    ],
  );
  const list = JSON.stringify({ list: Array.from({ length: items }, (_, i) => i) });
  const { id } = await runChain(cloud, version, [], list);
  const source = await executionOf(cloud.ports, id);
  if (source.status !== "completed") throw new RangeError(`the map of ${items} items ended as ${source.status}: ${id}`);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    times.push(await timed(() => planRestart(cloud.ports, { source, version, from: "after", by })));
  }
  const seconds = median(times) / 1000;
  return atMost(2, `dry run of a restart behind a map of ${items} items`, seconds, { rounds }, " s");
}
