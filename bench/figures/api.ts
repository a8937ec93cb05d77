import { type LocalApi, type LocalCloud, openApi } from "@nova/local";
import { publishChain } from "../chains.ts";
import { type Bench, type Figure, median, rounded, timed } from "../figure.ts";

const inARow = 100;
/** The longest time in milliseconds that a request should take to start a run. */
const aimMs = 25;

/** Measures how long an HTTP request takes that starts a run. */
export const api: Bench = async (cloud) => {
  const { workflowId } = await publishChain(cloud, 1);
  const server = await openApi(cloud, { port: 0 });
  try {
    const execute = () => postExecute(server, workflowId);
    return [await answerTimes(cloud, execute)];
  } finally {
    await server.close();
  }
};

async function answerTimes(cloud: LocalCloud, execute: () => Promise<string>): Promise<Figure> {
  const times: number[] = [];
  for (let n = 0; n < inARow; n++) {
    let id = "";
    times.push(await timed(async () => (id = await execute())));
    await cloud.untilEnd(id);
  }
  const p50 = median(times);
  return {
    name: "POST /workflows/{id}/execute answers in, median",
    aim: `< ${aimMs} ms`,
    value: rounded(p50),
    met: p50 < aimMs,
    detail: { requests: inARow, slowest_ms: rounded(Math.max(...times)) },
  };
}

async function postExecute({ url, key }: LocalApi, workflow: string): Promise<string> {
  const answer = await fetch(`${url}/workflows/${workflow}/execute`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.text}`, "content-type": "application/json" },
    body: "{}",
  });
  const { execution_id, detail } = (await answer.json()) as { execution_id?: string; detail?: string };
  if (execution_id === undefined) throw new RangeError(`the API answered ${answer.status}: ${detail}`);
  return execution_id;
}
