import { setTimeout as sleep } from "node:timers/promises";
import type { InvokeLambda, Room } from "@nova/aws-local";
import { arnOf } from "@nova/aws-local";

export function functionArn(name: string): string {
  return arnOf("lambda", `function:${name}:live`);
}

/** An asynchronous event is tried so often (AWS Lambda, "Asynchronous invocation"). */
const deliveries = 3;

/** The functions of NOVA. They are loaded at once and beside everything else, since that takes longest. */
export function createLambda(): InvokeLambda {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const loading = loadFunctions();
  return async (...call) => (await loading)(...call);
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
    import("@nova/aws-local/lambda"),
  ]);
  return createLambdaRuntime({ ...functions, ...serviceFunctions });
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
