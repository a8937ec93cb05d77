// The process of one function. It loads the bundle as Lambda does, and calls the handler for each received event.
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import type { Invocation, Result } from "./messages.ts";

const [file = "", exported = "", name = "", timeoutMs = ""] = process.argv.slice(2);
const { [exported]: handler } = await import(pathToFileURL(file).href);

process.on("message", async ({ id, event }: Invocation) => {
  const ends = Date.now() + Number(timeoutMs);
  const context = {
    awsRequestId: randomUUID(),
    functionName: name,
    invokedFunctionArn: `arn:aws:lambda:us-east-1:123456789012:function:${name}:live`,
    getRemainingTimeInMillis: () => ends - Date.now(),
  };
  const result = await handler(event, context).then(
    (answer: unknown) => ({ id, answer: answer ?? null }),
    (error: Error) => ({
      id,
      error: { errorType: error.name, errorMessage: error.message, trace: [error.stack ?? ""] },
    }),
  );
  process.send?.(result satisfies Result);
});
// This process must not outlive the command that started it.
process.on("disconnect", () => process.exit());
