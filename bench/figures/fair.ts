import { chainOf } from "../chains.ts";
import { openDev } from "../dev.ts";
import { atMost, type BenchApart, rounded } from "../figure.ts";

const runs = 1_000;
const clients = Array.from({ length: 10 }, (_, i) => `bench-${i}`);

/**
 * Checks that no client waits until earlier runs of another client have ended. It applies the limits of one of E2B's
 * plans. Most runs then wait for a sandbox, so one machine can execute the few that have one.
 */
export const fair: BenchApart = async () => {
  await using dev = await openDev("pro");
  const { id } = await dev.client.workflows.publish(chainOf(3));
  for (const slug of clients) await dev.client.clients.create({ slug, name: slug });
  await dev.runAll(id, 1);
  const own = runs / clients.length;
  const ran = await dev.runAll(
    id,
    clients.flatMap((slug) => Array<string>(own).fill(slug)),
  );
  const taken = ran.runs.map(({ ms, status }) => (status === "completed" ? ms : ran.allMs));
  const means = clients.map((_, i) => taken.slice(i * own, (i + 1) * own).reduce((sum, ms) => sum + ms, 0) / own);
  const [slowest, fastest] = [Math.max(...means), Math.min(...means)];
  const completed = ran.runs.filter(({ status }) => status === "completed").length;
  const name = `${runs} runs at once of ${clients.length} clients: mean of the slowest client against the fastest`;
  const ms = { slowest_ms: rounded(slowest, 0), fastest_ms: rounded(fastest, 0), all_ms: rounded(ran.allMs, 0) };
  return [atMost(2, name, slowest / fastest, { completed, ...ms })];
};
