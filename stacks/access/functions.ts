import { ArnFormat, type Stack } from "aws-cdk-lib/core";

/** Of the alias under which a function is known, before there is one. */
export function functionArn(stack: Stack, name: string): string {
  return stack.formatArn({
    service: "lambda",
    resource: "function",
    resourceName: `${name}:live`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
