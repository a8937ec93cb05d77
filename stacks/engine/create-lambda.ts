import { Policy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Duration } from "aws-cdk-lib/core";
import { Function as Lambda, type Stack } from "sst/constructs";
import { allow } from "../access/allow.ts";
import { type Grant, type Grantable, grants } from "../access/grants.ts";
import { explain } from "../findings.ts";
import { besideBundle, bundling } from "./bundling.ts";
import type { LambdaName, LambdaPlan } from "./lambdas.ts";
import { parameterName, type SecretName } from "./settings.ts";

/** What all functions share. */
export interface Surroundings {
  granted: Grantable;
  logs: LogGroup;
  environment: Record<string, string>;
}

/** One function with its role, and the alias under which state machines and rules know it. */
export function createLambda(stack: Stack, name: LambdaName, plan: LambdaPlan, around: Surroundings): IFunction {
  const role = createRole(stack, name, plan, around);
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
    copyFiles: besideBundle,
  });
  explain(role, "AwsSolutions-IAM5", "X-Ray, which SST turns on, knows no resources.", ["Resource::*"]);
  const live = new Alias(lambda, "Live", { aliasName: "live", version: lambda.currentVersion as IVersion });
  if (plan.isAsynchronous) keepFailures(live, around);
  return live as IFunction;
}

/** Actions are listed by hand: what SST and CDK would grant has wildcards. */
function createRole(stack: Stack, name: LambdaName, { may }: LambdaPlan, { granted, logs }: Surroundings): Role {
  const role = new Role(stack, `${name}-role`, { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  const writesLogs = allow("logs", ["CreateLogStream", "PutLogEvents"], [logs.logGroupArn]);
  const statements = [...may.map((grant) => grants[grant](granted)), writesLogs];
  const policy = new Policy(stack, `${name}-policy`, { statements });
  role.attachInlinePolicy(policy);
  explainWildcards(policy);
  return role;
}

function explainWildcards(policy: Policy): void {
  explain(policy, "AwsSolutions-IAM5", "Objects of one prefix, written by this function or one like it.", [
    { regex: "/^Resource::.*Bucket.*\\/(blobs|events|workflows)\\/\\*$/" },
  ]);
  explain(policy, "AwsSolutions-IAM5", "State machines that publishing makes: nova-<workflow>, unknown to any stack.", [
    { regex: "/^Resource::arn:.*:states:.*:(stateMachine|execution):nova-\\*(:\\*)?$/" },
  ]);
  explain(policy, "AwsSolutions-IAM5", "Log streams of the one log group.", [{ regex: "/^Resource::<.*Logs.*Arn>$/" }]);
}

/** Tried three times within six hours, then kept where an alarm sees it. */
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
  return Object.fromEntries(named.map(([, secret]) => parameterVariable(stack.stage, secret)));
}

function parameterVariable(stage: string, secret: SecretName): [name: string, value: string] {
  return [`${secret}_PARAMETER`, parameterName(stage, secret)];
}
