import { branchesOf, publish, runChain } from "../chains.ts";
import { type Bench, median, rounded } from "../figure.ts";

const branches = 10;
const rounds = 5;

/** Compares the time of many parallel branches with the time of a single node with the same code. */
export const branchesAtOnce: Bench = async (cloud) => {
  const [one, many] = [await publish(cloud, branchesOf(1)), await publish(cloud, branchesOf(branches))];
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
