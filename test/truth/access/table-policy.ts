import { readFileSync } from "node:fs";
import type { Statement } from "./policy.ts";

interface Template {
  Resources: Record<
    string,
    { Type: string; Properties: { ResourcePolicy?: { PolicyDocument: { Statement: unknown[] } } } }
  >;
}

const pseudoParameters: Record<string, string> = {
  "AWS::AccountId": "123456789012",
  "AWS::Partition": "aws",
  "AWS::Region": "us-east-1",
};

/**
 * Reads the resource policy of the table, which forbids all roles to change chains. moto does not apply this policy, so
 * this check has to apply it.
 */
export function tablePolicy(templateFile: string): Statement[] {
  const { Resources } = JSON.parse(readFileSync(templateFile, "utf8")) as Template;
  const tables = Object.values(Resources).filter(({ Type }) => Type === "AWS::DynamoDB::Table");
  const statements = tables.flatMap(({ Properties }) => Properties.ResourcePolicy?.PolicyDocument.Statement ?? []);
  return resolved(statements) as Statement[];
}

/** Replaces the CloudFormation functions in the policy by their values. */
function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== "object" || value === null) return value;
  const { Ref, "Fn::Join": join } = value as { Ref?: string; "Fn::Join"?: [string, unknown[]] };
  if (Ref !== undefined) return pseudoParameters[Ref] ?? Ref;
  if (join) return join[1].map(resolved).join(join[0]);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, resolved(inner)]));
}
