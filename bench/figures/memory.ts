import { readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { LocalCloud } from "@nova/local";
import { publishChain, runChain } from "../chains.ts";
import { type Bench, rounded } from "../figure.ts";

const [few, many] = [200, 1_200];
const atOnce = 4;

/** What stays in the memory of the process after many runs, against what stays after few: not more with each run. */
export const memory: Bench = async (cloud) => {
  const [early, late] = [await memoryAfter(cloud, few), await memoryAfter(cloud, many - few)];
  return [
    {
      name: `memory of the Node process after ${many} small runs against after ${few}`,
      aim: "at most 1.5 x",
      value: rounded(late / early),
      met: late <= 1.5 * early,
      detail: { [`mb_after_${few}`]: early, [`mb_after_${many}`]: late },
    },
  ];
};

/** In MB, after the garbage is collected: what is kept counts, not how lazily the collector works. */
async function memoryAfter(cloud: LocalCloud, runs: number): Promise<number> {
  const version = await publishChain(cloud, 1);
  let left = runs;
  const work = async () => {
    while (left-- > 0) await runChain(cloud, version);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  collectGarbage();
  return rounded((await residentBytes()) / 1024 / 1024, 0);
}

/** Pages that are shared count by their share (PSS), where the system tells it; else all of them (RSS). */
async function residentBytes(): Promise<number> {
  const told = await readFile("/proc/self/smaps_rollup", "utf8").catch(() => "");
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(told)?.[1];
  return kilobytes === undefined ? process.memoryUsage().rss : Number(kilobytes) * 1024;
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  collect();
}
