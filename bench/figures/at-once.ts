import { chainOf } from "../chains.ts";
import { type Dev, openDev } from "../dev.ts";
import { atMost, type BenchApart, type Figure, median, rounded, skippedFigure } from "../figure.ts";
import { measurePeak } from "../processes.ts";
import { openRestate } from "../rivals.ts";

const [runs, nodes, rounds] = [200, 3, 3];
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
    atMost(600, `${name} memory of nova dev and all its processes at the peak (PSS)`, peak.mb, {}, " MB"),
    atMost(60, `${name} processes at the peak`, peak.processes, {}, ""),
    await againstRestate(many),
  ];
};

async function againstRestate(many: () => ReturnType<Dev["runAll"]>): Promise<Figure> {
  const compared = [1.2, `${name} time against Restate behind the same walls`] as const;
  try {
    await using restate = await openRestate();
    await restate.runAll(1, nodes);
    let refused = 0;
    const [accepted, all, theirs]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      const { acceptedMs, allMs, runs: ran } = await many();
      refused += ran.filter(({ status }) => status === "refused").length;
      accepted.push(acceptedMs);
      all.push(allMs);
      theirs.push(await restate.runAll(runs, nodes));
    }
    const [nova_ms, restate_ms] = [rounded(median(all), 0), rounded(median(theirs), 0)];
    const detail = { nova_ms, restate_ms, accepted_ms: rounded(median(accepted), 0), refused, rounds };
    return atMost(...compared, nova_ms / restate_ms, detail);
  } catch (error) {
    return skippedFigure(...compared, error);
  }
}
