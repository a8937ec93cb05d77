import { startExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Head, headOf, sealEntry } from "../../packages/engine/src/chain/entry.ts";
import { finishClose } from "../../packages/engine/src/protocol/record.ts";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";

let cloud: TestCloud;
let closed = 0;

beforeAll(async () => {
  cloud = await openTestCloud();
});
afterAll(() => cloud.close());

/**
 * Starts a run that waits for a person. Then ends the run with an invented close entry, which has the fields `absurd`
 * and is not written to the chain.
 */
async function closeWith(absurd: Partial<Head>, error?: string) {
  const version = await cloud.publish({
    id: `close-${++closed}`,
    nodes: [
      { id: "start", type: "start" },
      { id: "ask", type: "approval", message: "Well?" },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "ask" },
      { from: "ask", to: "end", condition: "approved" },
      { from: "ask", to: "end", condition: "rejected" },
    ],
  });
  const { id } = await startExecution(cloud.ports, { version, context: "{}", files: [] });
  const [link] = await Array.fromAsync(cloud.ports.chain.links(id, ""));
  if (!link?.entry) throw new TypeError("the run has no first link");
  const head = headOf(link.entry);
  const close = { status: "failed", count: 2 } as const;
  const fields = { ...head, node_id: "(close)", node_type: "close", seq: 1, close, ...absurd } as Head;
  const failure = { node: "ask", class: "NodeFailed", message: error };
  const entry = await sealEntry(
    fields,
    error === undefined ? {} : { error: JSON.stringify(failure) },
    cloud.ports.blobs,
  );
  await finishClose(cloud.ports, entry);
  const record = await cloud.ports.executions.get(id);
  const runs = { workflow: version.workflow.id, from: "0", to: "~" };
  return { record, stats: await Array.fromAsync(cloud.service.stats.read(runs)) };
}

describe("the close of a run", () => {
  const spent = { cost_usd: 0.5, tokens_input: 10, tokens_cached: 0, tokens_output: 5 };

  it.each<[string, Partial<Head>]>([
    ["more tokens than an exact number can hold", { spent: { ...spent, tokens_input: 1e20 } }],
    ["infinite tokens", { spent: { ...spent, tokens_output: Number.POSITIVE_INFINITY } }],
    ["negative tokens and dollars", { spent: { ...spent, tokens_cached: -1e9, cost_usd: -9.99 } }],
    ["tokens that are not a number", { spent: { ...spent, tokens_input: "x" as unknown as number } }],
    ["an amount of 300 digits", { spent: { ...spent, cost_usd: 1e300 } }],
    ["an amount of 300 decimals", { spent: { ...spent, cost_usd: 1e-300 } }],
    ["more nodes than can be counted", { nodes: 1e40 }],
    ["an invalid time", { timestamp: "never" }],
  ])("ends the run and stores valid numbers even if the last entry has %s", async (_what, absurd) => {
    const { record, stats } = await closeWith(absurd);
    expect(record).toMatchObject({ open: false, status: "failed" });
    expect(Object.values(record?.spent ?? {}).every((count) => count >= 0 && count <= Number.MAX_SAFE_INTEGER)).toBe(
      true,
    );
    expect(stats).toHaveLength(1);
  });

  it.each([
    ["a text of a megabyte", "é".repeat(1_000_000)],
    ["half a surrogate pair", "a\ud800"],
    ["a text of NUL characters", "\0".repeat(100_000)],
  ])("ends the run and stores the error of the run even if the error message is %s", async (_what, message) => {
    const { record } = await closeWith({}, message);
    expect(record).toMatchObject({ open: false, error: { node: "ask", message: expect.any(String) } });
  });
});
