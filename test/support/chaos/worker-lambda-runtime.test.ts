import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../aws-local/states/support/server.ts";
import { createWorkerLambdaRuntime, type WorkerLambdaOptions } from "./worker-lambda-runtime.ts";

const arn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}:live`;

function runtime(options: Partial<WorkerLambdaOptions> = {}) {
  const entry = new URL("./functions.ts", import.meta.url);
  const { invokeLambda, close } = createWorkerLambdaRuntime({ entry, ...options });
  onTestFinished(close);
  return (name: string, event: unknown = {}, signal?: AbortSignal) =>
    invokeLambda(arn(name), JSON.stringify(event), signal);
}

/** Returns the path of a file that a handler creates, and a promise that resolves when it exists. */
async function marker() {
  const folder = await temporaryFolder();
  const mark = join(folder, "running");
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(folder, () => existsSync(mark) && resolve());
  onTestFinished(() => watcher.close());
  return { mark, running: promise };
}

describe("a Lambda function in its own thread", () => {
  it("gives the same answers as a Lambda function in the thread of the test", async () => {
    const invoke = runtime({ env: { NOVA_TEST_VARIABLE: "seen" } });
    expect(await invoke("echo", { value: { a: 1 } })).toEqual({ ok: true, payload: '{"a":1}' });
    expect(await invoke("context")).toEqual({ ok: true, payload: '"context"' });
    expect(await invoke("environment", { value: "NOVA_TEST_VARIABLE" })).toEqual({ ok: true, payload: '"seen"' });
    expect(await invoke("fail")).toMatchObject({ ok: false, errorType: "RangeError", errorMessage: "out of range" });
    await expect(invoke("missing")).rejects.toMatchObject({ name: "Lambda.ResourceNotFoundException" });
  });

  it("is killed when its signal is aborted, and can be invoked afterwards", async () => {
    const invoke = runtime({ concurrency: 1 });
    const { mark, running } = await marker();
    const kill = new AbortController();
    const invocation = invoke("hang", { mark }, kill.signal);
    const next = invoke("echo", { value: "alive" });
    await running;
    kill.abort();
    await expect(invocation).rejects.toMatchObject({ name: "Lambda.Unknown" });
    expect(await next).toEqual({ ok: true, payload: '"alive"' });
  });

  it("is killed at its deadline, even in an endless loop", async () => {
    const invoke = runtime({ concurrency: 1 });
    expect(await invoke("spin")).toMatchObject({
      ok: false,
      errorType: "Sandbox.Timedout",
      errorMessage: expect.stringContaining("0.05"),
    });
    expect(await invoke("echo", { value: 1 })).toEqual({ ok: true, payload: "1" });
  });

  it("fails with Lambda.Unknown when it ends its process, and can be invoked afterwards", async () => {
    const invoke = runtime({ concurrency: 1 });
    await expect(invoke("exit")).rejects.toMatchObject({ name: "Lambda.Unknown" });
    expect(await invoke("echo", { value: 1 })).toEqual({ ok: true, payload: "1" });
  });

  it("fails with the reason for the failure if its module cannot be loaded", async () => {
    const invoke = runtime({ entry: new URL("./broken.ts", import.meta.url) });
    expect(await invoke("echo")).toMatchObject({
      ok: false,
      errorType: "SyntaxError",
      errorMessage: "this module cannot be loaded",
    });
  });

  it("is killed when the runtime is closed", async () => {
    const { invokeLambda, close } = createWorkerLambdaRuntime({
      entry: new URL("./functions.ts", import.meta.url),
    });
    const { mark, running } = await marker();
    const invocation = invokeLambda(arn("hang"), JSON.stringify({ mark }));
    const outcome = expect(invocation).rejects.toMatchObject({ name: "Lambda.Unknown" });
    await running;
    await close();
    await outcome;
  });
});
