import type { Template } from "aws-cdk-lib/assertions";
import { brief } from "./iam.ts";

/** A Lambda function in a CloudFormation template. References in its variables are shortened. */
export interface DeployedFunction {
  name: string;
  properties: Record<string, unknown>;
  variables: Record<string, string>;
}

export function functionsOf(template: Template): DeployedFunction[] {
  return Object.values(template.findResources("AWS::Lambda::Function")).map(({ Properties: properties }) => ({
    name: properties.FunctionName,
    properties,
    variables: Object.fromEntries(
      Object.entries(properties.Environment.Variables).map(([name, value]) => [name, brief(value)]),
    ),
  }));
}
