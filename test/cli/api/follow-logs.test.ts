import { createClient } from "@nova/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { followLogs, type LogPiece } from "../../../packages/cli/src/api/follow-logs.ts";
import { type Reply, ScriptedServer } from "../../client/support/scripted-server.ts";

const id = `exec_${"0".repeat(26)}`;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Step = [string, Reply];

const at = (node_id: string, seq: number) => ({
  node_id,
  node_type: "action",
  scope: "",
  seq,
  attempt: 1,
  since: "",
  waits_for: null,
});
const look = (status: string, path: string[], ...nodes: object[]): Step => [
  `GET /executions/${id}?references=true`,
  { body: { execution_id: id, status, path, context: {}, at_work: { count: nodes.length, nodes, maps: [] } } },
];
const chain = (from: number, ...items: object[]): Step => [
  `GET /executions/${id}/chain?full=true&cursor=${Buffer.from(String(from)).toString("base64url")}`,
  { body: { items, next_cursor: null } },
];
const prints = (seq: number, after: string | undefined, text: string, next: string | null): Step => [
  `GET /executions/${id}/chain/${seq}/logs${after === undefined ? "" : `?after=${after}`}`,
  { body: { text, left_out: 0, next } },
];
const entry = (seq: number, node_id: string, logs = "", attempt = 1, steps: object[] = []) => ({
  seq,
  scope: "",
  node_id,
  node_type: "action",
  status: "success",
  timestamp: String(seq),
  logs,
  attempt,
  steps,
});
const failed = (attempt_number: number, logs: string) => ({ attempt_number, logs, error_class: "NodeFailed" });

async function followed(...script: Step[]): Promise<string[]> {
  const server = new ScriptedServer(...script);
  const nova = createClient({ url: "https://nova.example.com", apiKey: "key", fetch: server.fetch });
  const told: string[] = [];
  const following = (async () => {
    for await (const piece of followLogs(nova, id)) told.push(inShort(piece));
  })();
  following.catch(() => undefined);
  await vi.runAllTimersAsync();
  await following;
  server.expectDone();
  return told;
}

function inShort(piece: LogPiece): string {
  if (piece.kind === "crowd") return `${piece.count} at work`;
  if (piece.kind === "printed") return `${piece.at.node_id} prints ${piece.text}`;
  if (piece.kind === "failed") return `${piece.at.node_id} failed ${piece.at.attempt} ${piece.step.logs}`;
  const steps = piece.steps.map(({ attempt_number, logs }) => ` after ${attempt_number} ${logs}`);
  return `${piece.entry.node_id} ends ${piece.logs}${steps}`;
}

it("followLogs reports new output while code runs, and the rest of the output when the node has its entry", async () => {
  const told = await followed(
    look("running", ["start"], at("a", 1)),
    chain(0, entry(0, "start")),
    prints(1, undefined, "one\n", "0-1-4"),
    prints(1, "0-1-4", "two\n", "0-1-8"),
    look("completed", ["start", "a"]),
    chain(1, entry(1, "a", "one\ntwo\nthree\n"), entry(2, "end")),
  );
  const pieces = ["a prints one\n", "a prints two\n"];
  expect(told).toEqual(["start ends ", ...pieces, "a ends three\n", "end ends "]);
});

it("followLogs reports a long log to its end even if only the end of the log is stored", async () => {
  const told = await followed(
    look("running", ["start"], at("a", 1)),
    chain(0, entry(0, "start")),
    prints(1, undefined, "beginning\nline 7\n", "0-1-17"),
    prints(1, "0-1-17", "", null),
    prints(1, "0-1-17", "", null),
    look("completed", ["start", "a"]),
    chain(1, entry(1, "a", "ning\nline 7\nline 8\n")),
  );
  // The log in the entry lacks the first bytes of the output. So `followLogs` cannot find the end of the reported
  // output in it, and reports the whole log of the entry.
  expect(told.at(-1)).toBe("a ends ning\nline 7\nline 8\n");
});

it("followLogs reports a new attempt from its start, because the log of the entry contains only the last attempt", async () => {
  const told = await followed(
    look("running", ["start"], at("a", 1)),
    chain(0, entry(0, "start")),
    prints(1, undefined, "first\n", "0-1-6"),
    prints(1, "0-1-6", "again\n", "0-2-6"),
    prints(1, "0-2-6", "", "0-2-6"),
    look("completed", ["start", "a"]),
    chain(1, entry(1, "a", "again\nend\n", 2)),
  );
  expect(told.at(-1)).toBe("a ends end\n");
});

it("followLogs reads the chain a second time only after new entries, and skips the entries that are complete", async () => {
  const fork = {
    ...entry(1, "m"),
    branches: [{ branch: "0", scope: "/m@1.0", entries: [{ ...entry(1, "i"), scope: "/m@1.0", timestamp: "2" }] }],
  };
  const grown = structuredClone(fork);
  grown.branches[0]?.entries.push({ ...entry(2, "j"), scope: "/m@1.0", timestamp: "3" });
  const told = await followed(
    look("waiting", ["start", "m", "i"]),
    chain(0, entry(0, "start"), fork),
    look("waiting", ["start", "m", "i"]),
    look("completed", ["start", "m", "i", "j"]),
    chain(1, grown, { ...entry(2, "end"), timestamp: "4" }),
  );
  expect(told).toEqual(["start ends ", "m ends ", "i ends ", "j ends ", "end ends "]);
});

it("followLogs follows at most five running nodes, and reports that it does not follow the others", async () => {
  const nodes = Array.from({ length: 8 }, (_, i) => at(`n${i}`, i + 1));
  const round = nodes.slice(0, 5).map(({ seq }) => prints(seq, undefined, "", null));
  const told = await followed(
    look("running", ["start"], ...nodes),
    chain(0, entry(0, "start")),
    ...round,
    ...round,
    look("cancelled", ["start"]),
    chain(1),
  );
  expect(told).toEqual(["start ends ", "8 at work"]);
});

it("followLogs reports a failed attempt immediately, with the rest of its output, and only once", async () => {
  const waits = { ...at("a", 1), waits_for: { kind: "retry", until: null }, attempts: [failed(1, "one\ntwo\n")] };
  const told = await followed(
    look("running", ["start"], at("a", 1)),
    chain(0, entry(0, "start")),
    prints(1, undefined, "one\n", "0-1-4"),
    prints(1, "0-1-4", "", null),
    look("running", ["start"], waits),
    ...Array.from({ length: 2 }, () => prints(1, "0-1-4", "", null)),
    look("completed", ["start", "a"]),
    chain(1, entry(1, "a", "again\n", 3, [failed(1, "one\ntwo\n"), failed(2, "three\n")])),
  );
  expect(told).toEqual(["start ends ", "a prints one\n", "a failed 1 two\n", "a ends again\n after 2 three\n"]);
});
