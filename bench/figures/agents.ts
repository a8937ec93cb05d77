import type { LocalCloud } from "@nova/local";
import { countingCode, publishBetween, runChain } from "../chains.ts";
import { atMost, type Bench, type Figure, median, rounded, skippedFigure } from "../figure.ts";
import { langGraph } from "../rivals.ts";

const calls = 20;
const rounds = 5;

/**
 * Measures the calls of agents. Compares them with code nodes in the items of a map, and with LangGraph's ReAct loop.
 */
export const agents: Bench = async (cloud) => [await againstItems(cloud), await againstReact(cloud)];

const node = { id: "work", type: "action", code: countingCode };

function publishAgent(cloud: LocalCloud, count: number, atOnce: number) {
  const input_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const prompt = `Make ${count} calls, ${atOnce} at once.`;
  const agent = { id: "agent", type: "action", executor: "agent", prompt, tools: ["work"], max_steps: 100 };
  const nodes = [
    { ...agent, max_concurrency: 1 },
    { ...node, description: "Adds one.", input_schema },
  ];
  return publishBetween(cloud, `bench-agent-${count}-${atOnce}`, nodes, around("agent"));
}

function publishMap(cloud: LocalCloud, count: number) {
  const list = { id: "list", type: "action", code: `context["list"] = list(range(${count}))` };
  const map = { id: "each", type: "map", items: "list", max_concurrency: 1, nodes: [node], edges: [] };
  return publishBetween(cloud, `bench-items-${count}`, [list, map], around("list", "each"));
}

function around(...ids: string[]) {
  const path = ["start", ...ids, "end"];
  return path.slice(1).map((to, index) => ({ from: path[index] as string, to }));
}

/**
 * Compares the time of one more call of an agent with the time of one more item of a map. Each of these times is the
 * difference between a run with many calls or items and a run with few.
 */
async function againstItems(cloud: LocalCloud): Promise<Figure> {
  const [few, many] = [2, 42];
  const versions = {
    calls: [await publishAgent(cloud, few, few), await publishAgent(cloud, many, many)],
    items: [await publishMap(cloud, few), await publishMap(cloud, many)],
  } as const;
  const each = { calls: [] as number[], items: [] as number[] };
  for (let round = 0; round <= rounds; round++)
    for (const kind of ["calls", "items"] as const) {
      const [short, long] = versions[kind];
      const fewMs = (await runChain(cloud, short)).wallMs;
      const perOne = ((await runChain(cloud, long)).wallMs - fewMs) / (many - few);
      if (round > 0) each[kind].push(perOne);
    }
  const [call_ms, item_ms] = [rounded(median(each.calls), 1), rounded(median(each.items), 1)];
  const name = "a call of an agent, against a code node in an item of a map";
  return atMost(1.3, name, call_ms / item_ms, { call_ms, item_ms, rounds });
}

async function againstReact(cloud: LocalCloud): Promise<Figure> {
  const compared = [2, `an agent of ${calls} calls, against LangGraph's ReAct loop behind the same walls`] as const;
  try {
    const rival = await langGraph();
    const version = await publishAgent(cloud, calls, 1);
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round++) {
      const { wallMs } = await runChain(cloud, version);
      const rivalMs = await rival(calls, { model: process.env.OPENAI_BASE_URL ?? "" });
      if (round === 0) continue;
      ours.push(wallMs);
      theirs.push(rivalMs);
    }
    const [nova_ms, rival_ms] = [rounded(median(ours), 0), rounded(median(theirs), 0)];
    return atMost(...compared, nova_ms / rival_ms, { nova_ms, rival_ms, rounds });
  } catch (error) {
    return skippedFigure(...compared, error);
  }
}
