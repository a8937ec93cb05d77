import { publishBetween, runChain } from "../chains.ts";
import { type Bench, median, rounded } from "../figure.ts";

const branches = 10;
const rounds = 5;
/** Long enough for branches that wait for one another to show, and no work for the processor. */
const waitingCode = "import time\ntime.sleep(0.3)";

/** Branches side by side, each in a sandbox that is made for it, against one such node alone. */
export const branchesAtOnce: Bench = async (cloud) => {
  const fanOut = (width: number) => {
    const ids = Array.from({ length: width }, (_, i) => `wait${i + 1}`);
    return publishBetween(
      cloud,
      `bench-branches-${width}`,
      ids.map((id) => ({ id, type: "action", code: waitingCode })),
      ids.flatMap((id) => [
        { from: "start", to: id },
        { from: id, to: "end" },
      ]),
    );
  };
  const [one, many] = [await fanOut(1), await fanOut(branches)];
  const [oneMs, manyMs]: number[][] = [[], []];
  for (let round = 0; round < rounds; round++) {
    oneMs?.push((await runChain(cloud, one)).wallMs);
    manyMs?.push((await runChain(cloud, many)).wallMs);
  }
  const ratio = median(manyMs ?? []) / median(oneMs ?? []);
  return [
    {
      name: `${branches} branches at once, a node of 300 ms in each, against one`,
      aim: "at most 3 x",
      value: rounded(ratio),
      met: ratio <= 3,
      detail: { many_ms: rounded(median(manyMs ?? []), 0), one_ms: rounded(median(oneMs ?? []), 0), rounds },
    },
  ];
};
