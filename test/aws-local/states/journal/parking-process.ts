/**
 * A program for tests. It starts many executions, each of which waits for an answer. It prints the tokens of the
 * executions and the open resources of the process, and continues to run.
 */
import { CreateStateMachineCommand, SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import { openStates } from "../../../../packages/aws-local/src/states/open-states.ts";

const [dataDir = "", count = "0", definition = ""] = process.argv.slice(2);
const MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:flow";
const credentials = { accessKeyId: "AKLOCALTEST", secretAccessKey: "x" };
const tokens: string[] = [];
const states = await openStates({
  dataDir,
  ...credentials,
  onStatusChange: () => {},
  async invokeLambda(_arn, payload) {
    tokens.push(JSON.parse(payload).token);
    return { ok: true, payload: "null" };
  },
});
const client = new SFNClient({ endpoint: states.url, region: "us-east-1", credentials });
const role = "arn:aws:iam::000000000000:role/nova";
await client.send(new CreateStateMachineCommand({ name: "flow", definition, roleArn: role }));
global.gc?.();
const [rssBefore, startedMs] = [process.memoryUsage().rss, performance.now()];
const names = Array.from({ length: Number(count) }, (_, i) => `run-${i}`).values();
await Promise.all(Array.from({ length: 20 }, startThem));
await states.live.idle();
const parkedMs = performance.now() - startedMs;
client.destroy();
// Waits until the server has noticed that the client's connection is closed.
while (process.getActiveResourcesInfo().includes("TCPSocketWrap")) await new Promise(setImmediate);
global.gc?.();
const megabytes = (bytes: number) => Math.round(bytes / 1e5) / 10;
const { rss, heapUsed } = process.memoryUsage();
const figures = {
  parkedMs: Math.round(parkedMs),
  rssBefore: megabytes(rssBefore),
  rss: megabytes(rss),
  heap: megabytes(heapUsed),
};
process.stdout.write(`${JSON.stringify({ tokens, figures, resources: process.getActiveResourcesInfo() })}\n`);

async function startThem(): Promise<void> {
  for (const name of names)
    await client.send(new StartExecutionCommand({ stateMachineArn: MACHINE, name, input: "{}" }));
}
