import type { InvokeLambda } from "../../../packages/aws-local/src/lambda-types.ts";
import { withChaos } from "./chaos.ts";
import { createWorkerLambdaRuntime } from "./worker-lambda-runtime.ts";

/** Enough for the two deliveries of two tasks; each thread loads the functions for itself. */
const chaoticThreads = 4;

export interface ChaoticFunctions {
  invokeLambda: InvokeLambda;
  /** Closes the cloud that has the functions once every delivery has ended, and the functions after it. */
  close(closeCloud: () => Promise<void>): Promise<void>;
}

/**
 * The functions of a cloud in chaos, each invocation in a thread of its own: what is killed is dead, wherever it was.
 * `entry` is a module with all functions; each thread loads the sources in twice the time of a bundle.
 */
export function chaoticFunctions(
  seed: number,
  entry = new URL(import.meta.resolve("@nova/functions")),
): ChaoticFunctions {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const threads = createWorkerLambdaRuntime({ entry, concurrency: chaoticThreads });
  const { invokeLambda, settled } = withChaos(threads.invokeLambda, { seed });
  return {
    invokeLambda,
    async close(closeCloud) {
      await settled();
      await closeCloud();
      await threads.close();
    },
  };
}
