// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { DescribeExecutionCommand } from "@aws-sdk/client-sfn";
import { expect, it, onTestFinished } from "vitest";
import { asks, inRow, keeper, succeed, works } from "../support/parked.ts";
import { EXECUTION, temporaryFolder, testServer } from "../support/server.ts";

const count = 1000;
const program = new URL("parking-process.ts", import.meta.url).pathname;

interface Said {
  tokens: string[];
  resources: string[];
}

/** Starts a process in which `count` executions wait for answers. */
async function parking(dataDir: string): Promise<Said & { child: ChildProcess }> {
  const flow = JSON.stringify(inRow({ Ask: asks, After: works }));
  const child = spawn(process.execPath, [program, dataDir, String(count), flow], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { child, ...JSON.parse(line) };
}

it("a process keeps few of a thousand waiting executions in memory, and after a kill the next process continues all", async () => {
  const dataDir = await temporaryFolder();
  const { child, tokens, resources } = await parking(dataDir);
  expect(new Set(tokens).size).toBe(count);
  expect(resources).not.toContain("Timeout");
  child.kill("SIGKILL");
  await once(child, "exit");
  const { invokeLambda, payloads } = keeper();
  const server = await testServer({ dataDir, invokeLambda });
  expect(server.interrupted).toEqual([]);
  const queue = tokens.entries();
  const answerThem = async () => {
    for (const [i, token] of queue) await server.client.send(succeed(token, i));
  };
  await Promise.all(Array.from({ length: 20 }, answerThem));
  await server.live.idle();
  expect(server.changes.filter(({ status }) => status === "SUCCEEDED")).toHaveLength(count);
  expect(payloads.toSorted((a, b) => Number(a) - Number(b))).toEqual([...tokens.keys()]);
  const executionArn = `${EXECUTION}:run-7`;
  const { output } = await server.client.send(new DescribeExecutionCommand({ executionArn }));
  expect(tokens[Number(output)]).toBe(tokens.find((token) => atob(token).endsWith(":run-7")));
}, 120_000);
