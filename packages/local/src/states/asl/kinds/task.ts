import type { Definition } from "../definition.ts";
import type { State } from "../state.ts";
import { compileLambdaFunction } from "../task/lambda-function.ts";
import { compileLambdaInvoke } from "../task/lambda-invoke.ts";
import { compileStartExecution, type Pattern } from "../task/start-execution.ts";
import { compileWork } from "../work-state.ts";

const FUNCTION_ARN = /^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:[\w-]+(?::[\w$-]+)?$/;
const INVOKE = /^arn:aws[\w-]*:states:::lambda:invoke(\.waitForTaskToken)?$/;
const START = /^arn:aws[\w-]*:states:::states:(startExecution(?:\.sync(?::2)?)?)$/;

/** @throws DefinitionRejected for resources other than these: nothing else runs on a laptop. */
export function compileTask(name: string, definition: Definition): State {
  const resource = definition.text("Resource");
  if (FUNCTION_ARN.test(resource)) return compileWork(name, definition, compileLambdaFunction(definition, resource));
  const integration = INVOKE.exec(resource);
  if (integration) return compileWork(name, definition, compileLambdaInvoke(definition, integration[1] !== undefined));
  const start = START.exec(resource)?.[1] as Pattern | undefined;
  if (start) return compileWork(name, definition, compileStartExecution(definition, start));
  const choice = "name a Lambda function, lambda:invoke or states:startExecution";
  throw definition.reject("Resource", `"${resource}" is not supported locally: ${choice}`);
}
