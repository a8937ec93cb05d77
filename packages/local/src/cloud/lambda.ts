import { setTimeout as sleep } from "node:timers/promises";
import { accountId } from "../aws-http/request.ts";
import type { Room } from "../disk/room.ts";
import { withChaos } from "../lambda/chaos.ts";
import { createWorkerLambdaRuntime } from "../lambda/worker-lambda-runtime.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import { region } from "./environment.ts";
import type { ChaosOptions } from "./local-cloud.ts";

export interface Lambda {
  invoke: InvokeLambda;
  /** Resolves when every delivery has ended, those too whose answer nobody waits for. */
  settled(): Promise<void>;
  /** Kills what can be killed of the functions that still run. */
  close(): Promise<void>;
}

export function functionArn(name: string): string {
  return `arn:aws:lambda:${region}:${accountId}:function:${name}:live`;
}

/** An asynchronous event is tried so often (AWS Lambda, "Asynchronous invocation"). */
const deliveries = 3;

/** The functions of NOVA. They are loaded at once and beside everything else, since that takes longest. */
export function createLambda(chaos: ChaosOptions | undefined): Lambda {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  if (chaos) return createChaoticLambda(chaos);
  const loading = loadFunctions();
  return {
    invoke: async (arn, payload, signal) => (await loading)(arn, payload, signal),
    settled: async () => {},
    close: async () => {},
  };
}

/** Enough for the two deliveries of two tasks; each thread loads the functions for itself. */
const chaoticThreads = 4;

/** Each invocation in a thread of its own: what is killed is dead, wherever it was. */
function createChaoticLambda({ seed, entry = new URL(import.meta.resolve("@nova/functions")) }: ChaosOptions): Lambda {
  const threads = createWorkerLambdaRuntime({ entry, concurrency: chaoticThreads });
  const { invokeLambda, settled } = withChaos(threads.invokeLambda, { seed });
  return { invoke: invokeLambda, settled, close: () => threads.close() };
}

/** Hands an event on; false: no attempt succeeded. */
export async function deliver(invoke: InvokeLambda, functionArn: string, payload: string): Promise<boolean> {
  for (let delivery = 1; delivery <= deliveries; delivery++) {
    if (delivery > 1) await sleep(1000);
    const result = await invoke(functionArn, payload).catch(() => ({ ok: false }));
    if (result.ok) return true;
  }
  return false;
}

/** Only a first invocation reads the environment, so the functions can be loaded before there is one. */
async function loadFunctions(): Promise<InvokeLambda> {
  const [{ functions, serviceFunctions }, { createLambdaRuntime }] = await Promise.all([
    import("@nova/functions"),
    import("../lambda/lambda-runtime.ts"),
  ]);
  return createLambdaRuntime({ functions: { ...functions, ...serviceFunctions } });
}

/**
 * Has functions wait for room on the disk, and invokes one again that failed for lack of it: an execution stops where it
 * is, and no retry is spent. A function bears being invoked twice.
 */
export function whenThereIsRoom(invoke: InvokeLambda, room: Room): InvokeLambda {
  return async (...call) => {
    for (;;) {
      await room.untilThere();
      const result = await invoke(...call);
      if (result.ok || !room.isAwaited) return result;
    }
  };
}
