import type { Listening } from "../../aws-http/http-server.ts";
import { type AwsHttp, listen } from "../../aws-http/listen.ts";
import { operationOf, requestOf } from "../../aws-http/request.ts";
import { executionOperations } from "./executions.ts";
import type { Operations, Service } from "./service.ts";
import { machineOperations } from "./state-machines.ts";
import { taskOperations } from "./tasks.ts";

const operations: Operations = { ...machineOperations, ...executionOperations, ...taskOperations };

/** Longer than any request the API allows: a definition or an input, escaped. */
const maxBytes = 8 * 1024 * 1024;

/** Serves AWS JSON 1.0 on 127.0.0.1. */
export function listenForStates(
  service: Service,
  { accessKeyId, secretAccessKey, port, room }: Pick<AwsHttp, "accessKeyId" | "secretAccessKey" | "port" | "room">,
): Promise<Listening> {
  return listen({
    ...{ name: "Step Functions", contentType: "application/x-amz-json-1.0", maxBytes },
    ...{ accessKeyId, secretAccessKey, port, room },
    answer(message, body) {
      return operationOf("Step Functions", "AWSStepFunctions", message, operations)(service, requestOf(body));
    },
  });
}
