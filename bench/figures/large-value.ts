import { nodesMs, publishChain, randomFile, runChain } from "../chains.ts";
import { type Bench, median, rounded } from "../figure.ts";

const bytes = 50 * 1024 * 1024;
const nodes = 20;
const rounds = 3;

/**
 * Passes a 50 MB value through 20 nodes that do not use it. The value must be stored only once, and must cost the nodes
 * no time and no memory.
 */
export const largeValue: Bench = async (cloud) => {
  const version = await publishChain(cloud, nodes);
  await runChain(cloud, version);
  const file = randomFile("big", bytes);
  const [without, withValue, stored, heap]: number[][] = [[], [], [], []];
  for (let round = 0; round < rounds; round++) {
    without?.push(await nodesMs(cloud, (await runChain(cloud, version)).id));
    const memory = watchMemory();
    const { id } = await runChain(cloud, version, [file]);
    heap?.push(memory.stop());
    withValue?.push(await nodesMs(cloud, id));
    stored?.push((await cloud.counters(id)).bytes_stored);
  }
  const time = median(withValue ?? []) / median(without ?? []);
  const storedRatio = median(stored ?? []) / bytes;
  const heapMb = Math.max(...(heap ?? [])) / 1024 / 1024;
  const name = `a 50 MB value through ${nodes} nodes:`;
  return [
    {
      name: `${name} stored bytes`,
      aim: "at most 1.05 x",
      value: rounded(storedRatio, 3),
      met: storedRatio <= 1.05,
      detail: { bytes },
    },
    {
      name: `${name} time of the nodes`,
      aim: "at most 1.2 x",
      value: rounded(time),
      met: time <= 1.2,
      detail: { without_ms: median(without ?? []), with_ms: median(withValue ?? []), rounds },
    },
    {
      name: `${name} memory of the Node process, MB more`,
      aim: "at most 200",
      value: rounded(heapMb, 0),
      met: heapMb <= 200,
      detail: {},
    },
  ];
};

/** Returns the largest growth of heap and buffers until `stop`, in bytes, sampled every 20 ms. */
function watchMemory(): { stop(): number } {
  const inUse = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = inUse();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, inUse());
  }, 20);
  return {
    stop() {
      clearInterval(timer);
      return most - before;
    },
  };
}
