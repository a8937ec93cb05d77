import type { Definition } from "../definition.ts";
import type { State } from "../state.ts";
import { compileLambdaFunction, compileLambdaInvoke } from "../task/lambda.ts";
import { compileStartExecution } from "../task/start-execution.ts";
import { compileWork } from "../work-state.ts";

const FUNCTION_ARN = /^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:[\w-]+(?::[\w$-]+)?$/;
const INVOKE = /^arn:aws[\w-]*:states:::lambda:invoke\.waitForTaskToken$/;
const START = /^arn:aws[\w-]*:states:::states:startExecution\.sync:2$/;

/**
 * Compiles a Task by its Resource.
 * @throws DefinitionRejected for a resource that is not served
 */
export function compileTask(name: string, definition: Definition): State {
  const resource = definition.text("Resource");
  if (FUNCTION_ARN.test(resource)) return compileWork(name, definition, compileLambdaFunction(definition, resource));
  if (INVOKE.test(resource)) return compileWork(name, definition, compileLambdaInvoke(definition));
  if (START.test(resource)) return compileWork(name, definition, compileStartExecution(definition));
  const choice = "name a Lambda function, lambda:invoke.waitForTaskToken or states:startExecution.sync:2";
  throw definition.reject("Resource", `"${resource}" is not supported locally: ${choice}`);
}
