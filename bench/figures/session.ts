import { createClient, type NovaClient, type SessionRun } from "@nova/client";
import { openApi } from "@nova/local";
import { atMost, type Bench, median, rounded, timed } from "../figure.ts";

const [length, rounds] = [100, 10];
const codeOf = (id: string, more = "") => `context["${id}"] = 1${more}`;

/** Measures how long a draft with many nodes runs after an edit of its last node. */
export const session: Bench = async (cloud) => {
  const server = await openApi(cloud, { port: 0 });
  try {
    const nova = createClient({ url: server.url, apiKey: server.key.text });
    const [long, single] = [await sessionOf(nova, length), await sessionOf(nova, 1)];
    const times: { long: number[]; single: number[] } = { long: [], single: [] };
    let ran = 0;
    for (let round = 0; round < rounds; round++) {
      times.single.push(await runAfterEdit(nova, single, 1, round, () => undefined));
      times.long.push(await runAfterEdit(nova, long, length, round, (run) => (ran += run.ran.length)));
    }
    const [ofLong, ofSingle] = [median(times.long), median(times.single)];
    const detail = { after_edit_ms: rounded(ofLong, 0), single_ms: rounded(ofSingle, 0), rounds };
    const name = `session of ${length} nodes, run after an edit of the last:`;
    return [
      atMost(1.5, `${name} time against a session of one node`, ofLong / ofSingle, detail),
      atMost(1, `${name} nodes that run`, ran / rounds, {}, ""),
    ];
  } finally {
    await server.close();
  }
};

/** Creates a session with a chain of nodes that have not run yet. */
async function sessionOf(nova: NovaClient, length: number): Promise<string> {
  const ids = Array.from({ length }, (_, index) => `n${index + 1}`);
  const nodes = ids.map((id) => ({ id, type: "action", code: codeOf(id) }));
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index] as string, to }));
  const { session_id: id } = await nova.sessions.create({ nodes, edges });
  const first = await nova.sessions.run(id);
  if (first.execution_id !== null) await nova.executions.untilEnded(first.execution_id);
  return id;
}

async function runAfterEdit(
  nova: NovaClient,
  id: string,
  length: number,
  round: number,
  onRun: (run: SessionRun) => void,
): Promise<number> {
  const last = `n${length}`;
  await nova.sessions.changeNode(id, last, { code: codeOf(last, ` + ${round}`) });
  return timed(async () => {
    const run = await nova.sessions.run(id);
    if (run.status !== "completed") throw new RangeError(`the run of session ${id} is ${run.status}`);
    onRun(run);
  });
}
