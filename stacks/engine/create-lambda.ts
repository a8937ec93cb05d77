import type { Policy, Role } from "aws-cdk-lib/aws-iam";
import { Alias, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Duration } from "aws-cdk-lib/core";
import { allow, createServiceRole } from "../access/allow.ts";
import { parameterName } from "../access/arns.ts";
import { type Grant, type Grantable, grants } from "../access/grants.ts";
import { explain } from "../findings.ts";
import { Lambda, type Stack } from "../sst.ts";
import { bundling } from "./bundling.ts";
import type { LambdaPlan } from "./lambda-plan.ts";

export interface Surroundings {
  granted: Grantable;
  logs: LogGroup;
  environment: Record<string, string>;
  /** Fixed names of roles, by function. */
  roleNames?: Record<string, string>;
}

/** Creates functions with their roles. Returns the aliases that state machines, rules and routes use. */
export function createLambdas<Name extends string>(
  stack: Stack,
  plans: Record<Name, LambdaPlan>,
  around: Surroundings,
): Record<Name, IFunction> {
  const all = Object.entries(plans) as [Name, LambdaPlan][];
  const roles = new Map<string, Role>();
  for (const [name, plan] of all) if (!plan.as) roles.set(name, createRole(stack, name, plan, around));
  const made = all.map(([name, plan]) => {
    const { may } = plans[(plan.as ?? name) as Name];
    return [name, createLambda(stack, name, { ...plan, may }, around, roles.get(plan.as ?? name) as Role)];
  });
  return Object.fromEntries(made);
}

function createLambda(stack: Stack, name: string, plan: LambdaPlan, around: Surroundings, role: Role): IFunction {
  const lambda = new Lambda(stack, name, {
    functionName: name,
    handler: `functions/${plan.file}.handler`,
    runtime: "nodejs24.x",
    architecture: "arm_64",
    timeout: plan.timeoutSeconds,
    memorySize: plan.memoryMb,
    role,
    logGroup: around.logs,
    environment: { ...around.environment, ...secretsOf(stack, plan.may) },
    nodejs: bundling,
  });
  explain(role, "AwsSolutions-IAM5", "X-Ray, which SST turns on, knows no resources.", ["Resource::*"]);
  const live = new Alias(lambda, "Live", { aliasName: "live", version: lambda.currentVersion as IVersion });
  if (plan.isAsynchronous) keepFailures(live, around);
  return live as IFunction;
}

/** Creates a role with hand-written permissions: those of SST and CDK have wildcards. */
function createRole(stack: Stack, name: string, { may }: LambdaPlan, around: Surroundings): Role {
  const { granted, logs, roleNames = {} } = around;
  const writesLogs = allow("logs", ["CreateLogStream", "PutLogEvents"], [logs.logGroupArn]);
  // A stage without mail has no senders, and AWS refuses a permission without resources.
  const granting = may.map((grant) => grants[grant](granted)).filter(({ resources }) => resources.length > 0);
  const { role, policy } = createServiceRole(stack, `${name}-role`, `${name}-policy`, {
    service: "lambda.amazonaws.com",
    roleName: roleNames[name],
    statements: [...granting, writesLogs],
  });
  explainWildcards(policy);
  return role;
}

/** Retries an event twice within six hours, then keeps it where an alarm watches. */
function keepFailures(live: Alias, { granted: { undelivered } }: Surroundings): void {
  live.configureAsyncInvoke({
    retryAttempts: 2,
    maxEventAge: Duration.hours(6),
    onFailure: { bind: () => ({ destination: undelivered.queueArn }) },
  });
}

const secretGrants = { "E2B's key": "E2B_API_KEY", "the models' key": "OPENAI_API_KEY" } as const;

function secretsOf(stack: Stack, may: readonly Grant[]): Record<string, string> {
  const named = Object.entries(secretGrants).filter(([grant]) => may.includes(grant as Grant));
  return Object.fromEntries(named.map(([, secret]) => [`${secret}_PARAMETER`, parameterName(stack.stage, secret)]));
}

/** The only reasons why a policy of a function may name several resources. */
const reasons: Record<string, { regex: string }> = {
  "Objects of one prefix, written by this function or one like it.": {
    regex: "/^Resource::.*Bucket.*\\/(blobs|events|mail|uploads|workflows)\\/\\*$/",
  },
  "State machines that publishing makes: nova-<workflow>, unknown to any stack.": {
    regex: "/^Resource::arn:.*:states:.*:(stateMachine|execution):nova-(draft-)?\\*(:\\*)?$/",
  },
  "Rules and schedules of triggers, which publishing makes: nova-<workflow>-<trigger>.": {
    regex: "/^Resource::arn:.*:(events:.*:rule\\/(nova\\/)?|scheduler:.*:schedule\\/nova\\/)nova-\\*$/",
  },
  "Log streams of the one log group.": { regex: "/^Resource::<.*Logs.*Arn>$/" },
};

export function explainWildcards(policy: Policy): void {
  for (const [reason, only] of Object.entries(reasons)) explain(policy, "AwsSolutions-IAM5", reason, [only]);
}
