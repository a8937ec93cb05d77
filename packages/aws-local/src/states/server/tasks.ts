import type { Request } from "../../aws-http/request.ts";
import { DATA_LIMIT_BYTES } from "../asl/failure.ts";
import { executionOfToken } from "../asl/host.ts";
import type { TaskAnswer } from "../journal/journalled-host.ts";
import { arnError } from "./arns.ts";
import { readEnd } from "./executions.ts";
import type { Operations, Service } from "./service.ts";

export const taskOperations: Operations = {
  SendTaskSuccess: (service, request) =>
    answerToken(service, request, () => {
      const output = request.text("output", { most: DATA_LIMIT_BYTES });
      try {
        return { output: JSON.parse(output) };
      } catch (error) {
        throw arnError("InvalidOutput", (error as SyntaxError).message);
      }
    }),

  SendTaskFailure: (service, request) => answerToken(service, request, () => ({ failure: readEnd(request) })),
};

/**
 * Answers the task with a token. If no task waits for it, the error is TaskTimedOut for a token of one of our
 * executions, and InvalidToken for any other.
 */
async function answerToken({ live, executions }: Service, request: Request, read: () => TaskAnswer): Promise<object> {
  const token = request.text("taskToken", { most: 2048 });
  if (await live.answerToken(token, read())) return {};
  if (executions.get(executionOfToken(token))) throw arnError("TaskTimedOut", "Provided task does not exist anymore");
  throw arnError("InvalidToken", "Invalid token");
}
