import type { Definition } from "../definition.ts";
import type { State } from "../state.ts";
import { compileLambdaFunction } from "../task/lambda-function.ts";
import { compileLambdaInvoke } from "../task/lambda-invoke.ts";
import { compileWork } from "../work-state.ts";

const FUNCTION_ARN = /^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:[\w-]+(?::[\w$-]+)?$/;
const INVOKE = /^arn:aws[\w-]*:states:::lambda:invoke(\.waitForTaskToken)?$/;

/** @throws DefinitionRejected for resources other than Lambda: nothing else runs on a laptop. */
export function compileTask(name: string, definition: Definition): State {
  const resource = definition.text("Resource");
  if (FUNCTION_ARN.test(resource)) return compileWork(name, definition, compileLambdaFunction(definition, resource));
  const integration = INVOKE.exec(resource);
  if (integration) return compileWork(name, definition, compileLambdaInvoke(definition, integration[1] !== undefined));
  throw definition.reject(
    "Resource",
    `"${resource}" is not supported locally: name a Lambda function or lambda:invoke`,
  );
}
