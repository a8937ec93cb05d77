import { verifyExecution } from "@nova/engine";
import { publishChain, runChain } from "../chains.ts";
import { type Bench, rounded } from "../figure.ts";

const executions = 100;

/** 100 executions at once: none lost, every chain verified. */
export const atOnce: Bench = async (cloud) => {
  const version = await publishChain(cloud, 3);
  const start = performance.now();
  const runs = await Promise.all(Array.from({ length: executions }, () => runChain(cloud, version)));
  const elapsed = performance.now() - start;
  const records = await Promise.all(runs.map(({ id }) => cloud.ports.executions.get(id)));
  const verified: string[] = [];
  for (const { id } of runs) verified.push((await verifyExecution(cloud.ports, id)).state);
  const good = records.filter((record, i) => record?.status === "completed" && verified[i] === "anchored").length;
  return [
    {
      name: `${executions} executions of 3 nodes at once: completed with a verified chain`,
      aim: `${executions}`,
      value: good,
      met: good === executions,
      detail: { all_ms: rounded(elapsed, 0) },
    },
  ];
};
