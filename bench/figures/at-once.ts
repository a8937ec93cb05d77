import { branchesOf, chainOf, publish, runChain } from "../chains.ts";
import { type Dev, openDev } from "../dev.ts";
import { atMost, type Bench, type BenchApart, type Figure, median, rounded, skippedFigure } from "../figure.ts";
import { mainThreadMs, measurePeak } from "../processes.ts";
import { openRestate } from "../rivals.ts";

const [runs, nodes, rounds] = [200, 3, 5];
const name = `${runs} runs of ${nodes} nodes at once:`;

/** Starts many runs at the same time over the API of `nova dev`. Measures their time, and checks that none is lost. */
export const atOnce: BenchApart = async () => {
  await using dev = await openDev();
  const { id } = await dev.client.workflows.publish(chainOf(nodes));
  await dev.runAll(id, 1);
  const many = () => dev.runAll(id, runs);
  const first = many();
  const peak = await measurePeak(dev.pid, first);
  let good = 0;
  for (const { id, status } of (await first).runs)
    if (status === "completed" && (await dev.client.executions.verify(id)).state === "anchored") good++;
  return [
    { name: `${name} completed with a verified chain`, aim: `${runs}`, value: good, met: good === runs, detail: {} },
    atMost(500, `${name} memory of nova dev and all its processes at the peak (PSS)`, peak.mb, {}, " MB"),
    atMost(60, `${name} processes at the peak`, peak.processes, {}, ""),
    ...(await againstRestate(dev, many)),
  ];
};

async function againstRestate(dev: Dev, many: () => ReturnType<Dev["runAll"]>): Promise<Figure[]> {
  const compared = [2, `${name} time against Restate behind the same walls`] as const;
  try {
    await using restate = await openRestate();
    await restate.runAll(1, nodes);
    let refused = 0;
    const [accepted, all, theirs]: [number[], number[], number[]] = [[], [], []];
    const main: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = mainThreadMs(dev.pid);
      const { acceptedMs, allMs, runs: ran } = await many();
      refused += ran.filter(({ status }) => status === "refused").length;
      main.push((mainThreadMs(dev.pid) - before) / runs);
      accepted.push(acceptedMs);
      all.push(allMs);
      theirs.push(await restate.runAll(runs, nodes));
    }
    const [nova_ms, restate_ms] = [rounded(median(all), 0), rounded(median(theirs), 0)];
    return [
      atMost(...compared, nova_ms / restate_ms, { nova_ms, restate_ms, refused, rounds }),
      atMost(25, `${name} processor time of the main thread per run`, rounded(median(main), 1), { rounds }, " ms"),
      atMost(1_000, `${name} time until all starts are accepted over REST`, rounded(median(accepted), 0), {}, " ms"),
    ];
  } catch (error) {
    return [skippedFigure(...compared, error)];
  }
}

const branches = 10;
const branchRounds = 5;

/** Compares the time of many parallel branches with the time of a single node with the same code. */
export const branchesAtOnce: Bench = async (cloud) => {
  const [one, many] = [await publish(cloud, branchesOf(1)), await publish(cloud, branchesOf(branches))];
  const [oneMs, manyMs]: number[][] = [[], []];
  for (let round = 0; round < branchRounds; round++) {
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
      detail: {
        many_ms: rounded(median(manyMs ?? []), 0),
        one_ms: rounded(median(oneMs ?? []), 0),
        rounds: branchRounds,
      },
    },
  ];
};

const fairRuns = 1_000;
const clients = Array.from({ length: 10 }, (_, i) => `bench-${i}`);

/**
 * Checks that no client waits until earlier runs of another client have ended. It applies the limits of one of E2B's
 * plans. Most runs then wait for a sandbox, so one machine can execute the few runs that have a sandbox.
 */
export const fair: BenchApart = async () => {
  await using dev = await openDev("pro");
  const { id } = await dev.client.workflows.publish(chainOf(3));
  for (const slug of clients) await dev.client.clients.create({ slug, name: slug });
  await dev.runAll(id, 1);
  const own = fairRuns / clients.length;
  const ran = await dev.runAll(
    id,
    clients.flatMap((slug) => Array<string>(own).fill(slug)),
  );
  const taken = ran.runs.map(({ ms, status }) => (status === "completed" ? ms : ran.allMs));
  const means = clients.map((_, i) => taken.slice(i * own, (i + 1) * own).reduce((sum, ms) => sum + ms, 0) / own);
  const [slowest, fastest] = [Math.max(...means), Math.min(...means)];
  const completed = ran.runs.filter(({ status }) => status === "completed").length;
  const name = `${fairRuns} runs at once of ${clients.length} clients: mean of the slowest client against the fastest`;
  const ms = { slowest_ms: rounded(slowest, 0), fastest_ms: rounded(fastest, 0), all_ms: rounded(ran.allMs, 0) };
  return [atMost(2, name, slowest / fastest, { completed, ...ms })];
};
