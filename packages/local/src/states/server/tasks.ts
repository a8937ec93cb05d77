import type { Request } from "../../aws-http/request.ts";
import type { Json } from "../../json.ts";
import { DATA_LIMIT_BYTES } from "../asl/failure.ts";
import { executionOfToken } from "../asl/host.ts";
import { invalidOutput, invalidToken, taskTimedOut } from "./aws-error.ts";
import type { Operation, Service } from "./service.ts";

export const sendTaskSuccess: Operation = async (service, request) => {
  const token = readToken(request);
  const output = readOutput(request);
  assertAwaited(service, token, await service.live.answerToken(token, { output }));
  return {};
};

export const sendTaskFailure: Operation = async (service, request) => {
  const token = readToken(request);
  const error = request.optionalText("error", 256);
  const cause = request.optionalText("cause", 32768);
  const failure = { ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
  assertAwaited(service, token, await service.live.answerToken(token, { failure }));
  return {};
};

function readToken(request: Request): string {
  return request.text("taskToken", 2048);
}

function readOutput(request: Request): Json {
  const output = request.text("output", DATA_LIMIT_BYTES);
  try {
    return JSON.parse(output);
  } catch (error) {
    throw invalidOutput((error as SyntaxError).message);
  }
}

/** A token of an execution that was started here was good once; any other was never given out. */
function assertAwaited(service: Service, token: string, awaited: boolean): void {
  if (awaited) return;
  if (service.executions.get(executionOfToken(token))) throw taskTimedOut("Provided task does not exist anymore");
  throw invalidToken("Invalid token");
}
