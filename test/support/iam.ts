import type { Template } from "aws-cdk-lib/assertions";

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

/** The permissions of each role: one line per action, in which resources and conditions are shortened. */
export type Allowed = Record<string, string[]>;

/** Reads the permissions of all roles in a template, by the name that the stack gave each role. */
export function allowedBy(template: Template): Allowed {
  const allowed: Allowed = {};
  for (const { Properties } of Object.values(template.findResources("AWS::IAM::Policy"))) {
    for (const { Ref } of Properties.Roles as { Ref: string }[]) {
      const role = Ref.replace(/[0-9A-F]{8}$/, "");
      const lines = (Properties.PolicyDocument.Statement as Statement[]).flatMap(linesOf);
      allowed[role] = [...(allowed[role] ?? []), ...lines].sort();
    }
  }
  return allowed;
}

function linesOf({ Effect, Action, Resource, Condition = {} }: Statement): string[] {
  const where = [Resource].flat().map(brief).join(" ");
  const only = Object.entries(Condition).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => conditionOf(operator, key, [values].flat().map(brief))),
  );
  const line = [where, ...(only.length > 0 ? [`where ${only.sort().join(" and ")}`] : [])].join(" ");
  return [Action].flat().map((action) => `${Effect === "Allow" ? "" : "NOT "}${action} on ${line}`);
}

/**
 * Describes a condition with its operator, so that a test notices a wrong operator. The most frequent condition gets a
 * shorter form.
 */
function conditionOf(operator: string, key: string, values: string[]): string {
  const test = `${key} ${operator}`;
  return `${test === "dynamodb:LeadingKeys ForAllValues:StringLike" ? "pk is" : test} ${values.join(" or ")}`;
}

/**
 * Shortens a value of a template: `production-nova-storage:ExportsOutputFnGetAttTableCD117FA1ArnE2C8C204` becomes
 * `Table.Arn`.
 */
export function brief(value: unknown): string {
  if (typeof value === "string") return value;
  const [[kind, of] = []] = Object.entries(value as Record<string, unknown>);
  if (kind === "Fn::Join") return (of as [string, unknown[]])[1].map(brief).join("");
  if (kind === "Fn::GetAtt") return (of as string[]).map(unhashed).join(".");
  if (kind === "Ref") return of === "AWS::Partition" ? "aws" : unhashed(of as string);
  const [, name = ""] = /ExportsOutput(?:FnGetAtt|Ref)(\w+)[0-9A-F]{8}$/.exec(String(of)) ?? [];
  return name.replace(/[0-9A-F]{8}(\w*)$/, (_, rest) => (rest ? `.${rest}` : ""));
}

function unhashed(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, "");
}
