import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SFNClient } from "@aws-sdk/client-sfn";
import { onTestFinished } from "vitest";
import type { StatusChange } from "../../../../packages/aws-local/src/states/ends.ts";
import { openStates, type States, type StatesOptions } from "../../../../packages/aws-local/src/states/open-states.ts";
import { echo, FUNCTION } from "./run.ts";

export const KEY = { accessKeyId: "AKLOCALTEST", secretAccessKey: "x" };
export const ROLE = "arn:aws:iam::000000000000:role/nova";
export const MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:flow";
export const EXECUTION = "arn:aws:states:us-east-1:000000000000:execution:flow";

export const passes = JSON.stringify({ StartAt: "S", States: { S: { Type: "Pass", End: true } } });
export const invokes = JSON.stringify({ StartAt: "S", States: { S: { Type: "Task", Resource: FUNCTION, End: true } } });

export interface TestServer extends States {
  client: SFNClient;
  changes: StatusChange[];
  dataDir: string;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "nova-states-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Opens a server over a new temporary folder (or `options.dataDir`), and a client of the AWS SDK for this server. Both
 * are closed when the test ends.
 */
export async function testServer(options: Partial<StatesOptions> = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await temporaryFolder());
  const changes: StatusChange[] = [];
  const onStatusChange = (change: StatusChange) => void changes.push(change);
  const states = await openStates({ ...KEY, invokeLambda: echo, onStatusChange, ...options, dataDir });
  const client = clientOf(states.url);
  let closed: Promise<void> | undefined;
  const close = () => {
    client.destroy();
    closed ??= states.close();
    return closed;
  };
  onTestFinished(close);
  return { ...states, close, client, changes, dataDir };
}

export function clientOf(endpoint: string, credentials = KEY): SFNClient {
  return new SFNClient({
    endpoint,
    region: "us-east-1",
    credentials,
    maxAttempts: 1,
  });
}

/** Returns a Lambda function that waits until `release` is called, and a promise that resolves at its first call. */
export function heldLambda() {
  const called = Promise.withResolvers<{ payload: string; signal: AbortSignal | undefined }>();
  const released = Promise.withResolvers<void>();
  return {
    called: called.promise,
    release: released.resolve,
    async invokeLambda(_arn: string, payload: string, signal?: AbortSignal) {
      called.resolve({ payload, signal });
      await released.promise;
      return { ok: true as const, payload };
    },
  };
}
