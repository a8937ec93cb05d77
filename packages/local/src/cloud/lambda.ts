import { setTimeout as sleep } from "node:timers/promises";
import { withChaos } from "../lambda/chaos.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import { region } from "./environment.ts";

export interface Lambda {
  invoke: InvokeLambda;
  /** Resolves when every delivery has ended, those too whose answer nobody waits for. */
  settled(): Promise<void>;
}

export const statusFunction = `arn:aws:lambda:${region}:000000000000:function:nova-execution-status:live`;

/** An asynchronous event is tried so often (AWS Lambda, "Asynchronous invocation"). */
const deliveries = 3;

/** The functions of NOVA. They are loaded at once and beside everything else, since that takes longest. */
export function createLambda(chaos: { seed: number } | undefined): Lambda {
  const functions = loadFunctions();
  const invoke: InvokeLambda = async (arn, payload, signal) => (await functions)(arn, payload, signal);
  if (!chaos) return { invoke, settled: async () => {} };
  const { invokeLambda, settled } = withChaos(invoke, chaos);
  return { invoke: invokeLambda, settled };
}

/** Hands an event on; what fails for good is the sweeper's. */
export async function deliver(invoke: InvokeLambda, functionArn: string, payload: string): Promise<void> {
  for (let delivery = 1; delivery <= deliveries; delivery++) {
    if (delivery > 1) await sleep(1000);
    const result = await invoke(functionArn, payload).catch(() => ({ ok: false }));
    if (result.ok) return;
  }
}

/** Only a first invocation reads the environment, so the functions can be loaded before there is one. */
async function loadFunctions(): Promise<InvokeLambda> {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const [{ functions }, { createLambdaRuntime }] = await Promise.all([
    import("@nova/functions"),
    import("../lambda/lambda-runtime.ts"),
  ]);
  return createLambdaRuntime({ functions });
}
