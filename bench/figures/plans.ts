import { branchesOf, chainOf } from "../chains.ts";
import { openDev, type Sandboxes } from "../dev.ts";
import { atMost, type BenchApart, rounded } from "../figure.ts";

const [runs, nodes] = [60, 3];
const name = `${runs} runs of ${nodes} nodes at once, after one:`;

/**
 * `wideRuns` is the number of measured runs, one after another. `firstRuns` earlier runs create the sandboxes. Each run
 * has `branches` parallel branches, and each branch needs a sandbox.
 */
const [wideRuns, firstRuns, branches] = [10, 5, 8];
const wideName = `${wideRuns} runs of ${branches} branches one after another, after ${firstRuns}:`;

/**
 * Measures how much slower runs are under the limits of E2B's plans, and for how many seconds of sandboxes E2B is paid.
 */
export const plans: BenchApart = async () => {
  const free = await underPlan("none");
  const limited = [];
  for (const plan of ["pro", "hobby"] as const) {
    const { ms, ...sandboxes } = await underPlan(plan);
    const detail = { plan_ms: rounded(ms, 0), none_ms: rounded(free.ms, 0), ...describeSandboxes(sandboxes) };
    limited.push(atMost(2, `${name} within the limits of ${plan}, against none`, ms / free.ms, detail));
  }
  const { sandbox_seconds_per_1000_runs: value = null, ...detail } = describeSandboxes(free);
  const [wideFree, wideHobby] = [await wideUnder("none"), await wideUnder("hobby")];
  const wide = { plan_ms: rounded(wideHobby, 0), none_ms: rounded(wideFree, 0) };
  limited.push(atMost(2, `${wideName} within the limits of hobby, against none`, wideHobby / wideFree, wide));
  const paid = { name: `${name} seconds of sandbox paid per 1,000 runs, no limits`, value, detail };
  return [...limited, { ...paid, aim: "none, it is for the table of costs", met: true }];
};

async function underPlan(plan: "none" | "pro" | "hobby"): Promise<Sandboxes & { ms: number }> {
  await using dev = await openDev(plan);
  const { id } = await dev.client.workflows.publish(chainOf(nodes));
  const watched = dev.watchSandboxes();
  await dev.runAll(id, 1);
  const { allMs } = await dev.runAll(id, runs);
  return { ms: allMs, ...(await watched.stop()) };
}

async function wideUnder(plan: "none" | "hobby"): Promise<number> {
  await using dev = await openDev(plan);
  const { id } = await dev.client.workflows.publish(branchesOf(branches));
  let ms = 0;
  for (let run = 0; run < firstRuns + wideRuns; run++) {
    const { allMs } = await dev.runAll(id, 1);
    if (run >= firstRuns) ms += allMs;
  }
  return ms;
}

/**
 * Computes the share of runs that got a sandbox of an earlier run, and the seconds of sandboxes that 1,000 runs would
 * need.
 */
function describeSandboxes({ made, seconds }: Sandboxes): Record<string, number> {
  const all = runs + 1;
  return { pool_hit_rate: rounded(1 - made / all), sandbox_seconds_per_1000_runs: rounded((1000 * seconds) / all, 0) };
}
