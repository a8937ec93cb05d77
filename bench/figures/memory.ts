import { setTimeout as sleep } from "node:timers/promises";
import { chainOf } from "../chains.ts";
import { openDev } from "../dev.ts";
import { atMost, type BenchApart } from "../figure.ts";
import { measureProcesses } from "../processes.ts";

const [few, many] = [500, 5_000];
const atOnce = 4;
/**
 * Milliseconds of pause before the measurement. Some processes end a moment after their run, and must not be measured.
 */
const quietMs = 3_000;

/**
 * Compares the memory of `nova dev` and its processes after many runs and after few runs. The memory must not grow with
 * each run.
 */
export const memory: BenchApart = async () => {
  await using dev = await openDev();
  const { id } = await dev.client.workflows.publish(chainOf(1));
  const heldAfter = async (runs: number) => {
    let left = runs;
    const work = async () => {
      while (left-- > 0) await dev.runAll(id, 1);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    await sleep(quietMs);
    return measureProcesses(dev.pid).mb;
  };
  const [begin, early, late] = [await heldAfter(1), await heldAfter(few), await heldAfter(many - few)];
  const detail = { mb_after_1: begin, [`mb_after_${few}`]: early, [`mb_after_${many}`]: late };
  return [atMost(1.5, `memory of nova dev after ${many} small runs against after ${few} (PSS)`, late / early, detail)];
};
