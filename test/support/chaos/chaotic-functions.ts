import type { InvokeLambda } from "../../../packages/aws-local/src/lambda-types.ts";
import { withChaos } from "./chaos.ts";
import { createWorkerLambdaRuntime } from "./worker-lambda-runtime.ts";

/** The number of threads: enough for both deliveries of two tasks. Each thread has to load all functions. */
const chaoticThreads = 4;

export interface ChaoticFunctions {
  invokeLambda: InvokeLambda;
  /** Waits until every delivery has ended, then closes the cloud, and then the threads. */
  close(closeCloud: () => Promise<void>): Promise<void>;
}

/**
 * Runs the functions of a cloud with chaos. Each invocation runs in its own thread, so that a kill can end it at any
 * point. `entry` is the URL of a module with all functions. A thread loads a bundle twice as fast as the sources.
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
