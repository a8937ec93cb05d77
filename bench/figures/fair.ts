import { chainOf } from "../chains.ts";
import { openDev } from "../dev.ts";
import { atMost, type BenchApart, rounded } from "../figure.ts";

const runs = 1_000;
const clients = Array.from({ length: 10 }, (_, i) => `bench-${i}`);

/** No client waits for another one's runs, in whichever order they ask for theirs. */
export const fair: BenchApart = async () => {
  await using dev = await openDev();
  const { id } = await dev.client.workflows.publish(chainOf(3));
  for (const slug of clients) await dev.client.clients.create({ slug, name: slug });
  await dev.runAll(id, 1);
  const inTurns = Array.from({ length: runs }, (_, i) => clients[i % clients.length] as string);
  const figures = [];
  for (const [how, order] of Object.entries({ "in turns": inTurns, "one after another": inTurns.toSorted() })) {
    const ran = await dev.runAll(id, order);
    const means = clients.map((slug) => {
      const own = ran.runs.filter((_, i) => order[i] === slug);
      return own.reduce((sum, { ms }) => sum + ms, 0) / own.length;
    });
    const [slowest, fastest] = [Math.max(...means), Math.min(...means)];
    const name = `${runs} runs at once of ${clients.length} clients that ask ${how}: mean of the slowest against the fastest`;
    const detail = { slowest_ms: rounded(slowest, 0), fastest_ms: rounded(fastest, 0), all_ms: rounded(ran.allMs, 0) };
    figures.push(atMost(2, name, slowest / fastest, detail));
  }
  return figures;
};
