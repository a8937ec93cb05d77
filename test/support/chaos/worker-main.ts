import { enableCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { LambdaFunction, LambdaFunctions } from "../../../packages/aws-local/src/lambda/lambda-runtime.ts";
import { callHandler, failureOf, type Invocation } from "../../../packages/aws-local/src/lambda/lambda-runtime.ts";
import type { FromWorker } from "./worker-sandbox.ts";

function post(message: FromWorker): void {
  parentPort?.postMessage(message);
}

async function serve(entry: string): Promise<void> {
  const loaded = (await import(entry)) as { functions: LambdaFunctions; serviceFunctions?: LambdaFunctions };
  const functions = { ...loaded.functions, ...loaded.serviceFunctions };
  parentPort?.on("message", async (invocation: Invocation) => {
    post({ answer: await callHandler(functions[invocation.functionName] as LambdaFunction, invocation, Date.now) });
  });
  post({ ready: new Map(Object.entries(functions).map(([name, fn]) => [name, fn.timeoutSeconds])) });
}

// Without this cache on disk, each thread would compile hundreds of modules again.
enableCompileCache();
serve(workerData as string).catch((error: unknown) => post({ broken: failureOf(error) }));
