import { writeFileSync } from "node:fs";
import type { LambdaContext, LambdaFunctions } from "../../../packages/aws-local/src/lambda/lambda-runtime.ts";

interface Order {
  /** The path of a file that the handler creates when it starts to run. */
  mark?: string;
  value?: unknown;
}

/** Functions that the worker threads of the tests load. */
export const functions: LambdaFunctions = {
  echo: { timeoutSeconds: 10, handler: async (event) => (event as Order).value },
  environment: { timeoutSeconds: 10, handler: async (event) => process.env[(event as Order).value as string] },
  context: { timeoutSeconds: 10, handler: async (_event, context: LambdaContext) => context.functionName },
  fail: {
    timeoutSeconds: 10,
    handler: async () => {
      throw new RangeError("out of range");
    },
  },
  hang: {
    timeoutSeconds: 60,
    handler: (event) => {
      const { mark } = event as Order;
      if (mark !== undefined) writeFileSync(mark, "running");
      return new Promise(() => {});
    },
  },
  spin: {
    timeoutSeconds: 0.05,
    handler: async () => {
      for (;;);
    },
  },
  exit: { timeoutSeconds: 10, handler: async () => process.exit(3) },
};
