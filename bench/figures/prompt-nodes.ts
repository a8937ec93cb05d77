import { randomUUID } from "node:crypto";
import { readEntries } from "@nova/engine";
import { publishBetween, publishChain, runChain } from "../chains.ts";
import { type Bench, type Figure, median, rounded } from "../figure.ts";

const nodes = 20;
const rounds = 5;

/**
 * Measures nodes whose code a model writes, with a model that answers immediately. It measures the time of one attempt,
 * and the time of a node that runs code which an earlier run has pinned.
 */
export const promptNodes: Bench = async (cloud) => {
  const mark = randomUUID(); // A mark in the prompts, because code that an earlier bench has pinned must not be reused.
  const publish = (round: number) => publishPrompts(cloud, round, mark);
  await runChain(cloud, await publish(0));
  const written: number[] = [];
  const checked: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const { id, wallMs } = await runChain(cloud, await publish(round));
    written.push(wallMs / nodes);
    checked.push(...(await checksOf(cloud, id)));
  }
  return [...attemptFigures(written, checked), await hitFigure(cloud, await publish(rounds))];
};

function publishPrompts(cloud: Parameters<Bench>[0], round: number, mark: string) {
  const ids = Array.from({ length: nodes }, (_, i) => `n${i + 1}`);
  const chain = ["start", ...ids, "end"];
  return publishBetween(
    cloud,
    `bench-prompts-${round}`,
    ids.map((id) => ({
      id,
      type: "action",
      executor: "prompt",
      prompt: `Add one to n, which is 0 at first (${id} of ${mark}).`,
    })),
    chain.slice(1).map((to, i) => ({ from: chain[i] as string, to })),
  );
}

/** Returns the milliseconds of each step that checks code without a model. */
async function checksOf(cloud: Parameters<Bench>[0], id: string): Promise<number[]> {
  const { entries } = await readEntries(cloud.ports, id);
  return entries.flatMap(({ steps }) =>
    steps.filter(({ agent_name }) => agent_name === "CodeValidator").map(({ execution_time_ms }) => execution_time_ms),
  );
}

function attemptFigures(written: number[], checked: number[]): Figure[] {
  const [attemptMs, checkMs] = [median(written), median(checked)];
  return [
    {
      name: "one attempt of a prompt node, run and records included, with a model that answers at once: ms",
      aim: "under 60",
      value: rounded(attemptMs, 1),
      met: attemptMs < 60,
      detail: { nodes, rounds },
    },
    {
      name: "the check of written code without a model: ms",
      aim: "under 15",
      value: rounded(checkMs, 1),
      met: checkMs < 15,
      detail: { checks: checked.length },
    },
  ];
}

/** Compares nodes with pinned code and nodes with handwritten code. */
async function hitFigure(
  cloud: Parameters<Bench>[0],
  prompts: Awaited<ReturnType<typeof publishPrompts>>,
): Promise<Figure> {
  const hand = await publishChain(cloud, nodes);
  await runChain(cloud, hand);
  const hits: number[] = [];
  const byHand: number[] = [];
  for (let round = 0; round < rounds; round++) {
    hits.push((await runChain(cloud, prompts)).wallMs / nodes);
    byHand.push((await runChain(cloud, hand)).wallMs / nodes);
  }
  const more = median(hits) - median(byHand);
  return {
    name: "a prompt node whose code was written before, against one by hand: ms more",
    aim: "at most 5",
    value: rounded(more, 1),
    met: more <= 5,
    detail: { hit_ms: rounded(median(hits), 1), by_hand_ms: rounded(median(byHand), 1), rounds },
  };
}
