import { cp, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { carried as shelf } from "@nova/agents/carried";
import { carried as pages } from "@nova/mcp/carried";
import { carried as ruff } from "@nova/python/carried";
import { carried as harness } from "@nova/sandbox/carried";
import type { Policy, Role } from "aws-cdk-lib/aws-iam";
import { Alias, type IFunction, type IVersion } from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { Duration } from "aws-cdk-lib/core";
import { allow, createServiceRole, explain, parameterName } from "./access.ts";
import { type Grant, type Grantable, grants } from "./grants.ts";
import { type BundlingOptions, Lambda, type Stack } from "./sst.ts";

interface Surroundings {
  granted: Grantable;
  logs: LogGroup;
  environment: Record<string, string>;
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

/** Creates a role with hand-written permissions, because the permissions that SST and CDK generate have wildcards. */
function createRole(stack: Stack, name: string, { may }: LambdaPlan, around: Surroundings): Role {
  const { granted, logs, roleNames = {} } = around;
  const writesLogs = allow("logs", ["CreateLogStream", "PutLogEvents"], [logs.logGroupArn]);
  // Leaves out grants without resources, because AWS refuses them. On a stage without mail, the grant for mails has no
  // resources.
  const granting = may.map((grant) => grants[grant](granted)).filter(({ resources }) => resources.length > 0);
  const { role, policy } = createServiceRole(stack, `${name}-role`, `${name}-policy`, {
    service: "lambda.amazonaws.com",
    roleName: roleNames[name],
    statements: [...granting, writesLogs],
  });
  explainWildcards(policy);
  return role;
}

/** Retries a failed event twice within six hours, then puts it into a queue that an alarm watches. */
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
    regex: "/^Resource::.*Bucket.*\\/(blobs|events|mail|proofs\\/(files|trees)|uploads|workflows)\\/\\*$/",
  },
  "State machines that publishing makes: nova-<workflow>, unknown to any stack.": {
    regex: "/^Resource::arn:.*:states:.*:(stateMachine|execution):nova-(draft-)?\\*(:\\*)?$/",
  },
  "Rules and schedules of triggers, which publishing makes: nova-<workflow>-<trigger>.": {
    regex: "/^Resource::arn:.*:(events:.*:rule\\/(nova\\/)?|scheduler:.*:schedule\\/nova\\/)nova-\\*$/",
  },
  "Log streams of the one log group.": { regex: "/^Resource::<.*Logs.*Arn>$/" },
};

function explainWildcards(policy: Policy): void {
  for (const [reason, only] of Object.entries(reasons)) explain(policy, "AwsSolutions-IAM5", reason, [only]);
}

export interface LambdaPlan {
  /** File below functions/ that exports `handler`. */
  file: string;
  timeoutSeconds: number;
  /** Memory in MB; it also sets the share of a processor. */
  memoryMb: number;
  /**
   * True if rules and schedules invoke the function without waiting for its answer. A queue keeps events with which the
   * function failed.
   */
  isAsynchronous?: boolean;
  /** Another function of this stack, whose role this function uses. */
  as?: string;
  may: readonly Grant[];
}

/**
 * Fills in the defaults: the file with the function's name, a timeout of two minutes, and half a gigabyte of memory.
 */
export function fillPlans<Name extends string>(
  plans: Record<Name, Pick<LambdaPlan, "may"> & Partial<LambdaPlan>>,
): Record<Name, LambdaPlan> {
  const usual = (name: string) => ({ file: name.replace(/^nova-/, ""), timeoutSeconds: 120, memoryMb: 512 });
  const whole = Object.entries<Partial<LambdaPlan>>(plans).map(([name, plan]) => [name, { ...usual(name), ...plan }]);
  return Object.fromEntries(whole) as Record<Name, LambdaPlan>;
}

type Plugin = NonNullable<NonNullable<BundlingOptions["esbuild"]>["plugins"]>[number];

/**
 * Removes `with { type: "json" }` from imports. Node requires it, but SST's esbuild (0.18) knows only `assert`. An
 * import of JSON in a bundle works without it.
 */
const importAttributes: Plugin = {
  name: "import-attributes",
  setup(build) {
    build.onLoad({ filter: /packages[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const contents = source.replaceAll(/^(import .*) with \{ type: "json" \};$/gm, "$1;");
      return { contents, loader: "ts" };
    });
  },
};

/** Files of libraries that no function needs. A bundler cannot know that they are not needed. */
const unused = [
  /zod[\\/]v4[\\/]locales[\\/]index\.js$/, // Zod's messages in fifty languages.
  /zod[\\/]v3[\\/]index\.js$/, // The schemas of Zod 3, which OpenAI's SDK accepts in addition to those of Zod 4.
  /dockerfile-ast[\\/]lib[\\/]main\.js$/, // A parser of Dockerfiles, from which E2B's SDK can make templates.
  /bowser[\\/]bowser\.mjs$/, // A module that detects the browser in which AWS's SDK runs.
];

/**
 * Replaces the files in `unused` by empty modules, which makes a bundle a tenth smaller. If code needs one of the
 * files, a developer must remove the line of the file from `unused`.
 */
const leaveOut: Plugin = {
  name: "leave-out",
  setup(build) {
    for (const filter of unused) build.onLoad({ filter }, () => ({ contents: "", loader: "js" }));
  },
};

interface CarriedFiles {
  readBy: string;
  from: string;
  /** Path that the module reads, relative to the folder of the bundle. */
  to: string;
}

/**
 * Files that a module expects in its own folder (`import.meta.url`, `__dirname`). In a deployment, these files must be
 * in the folder of the bundle.
 */
const carried: readonly CarriedFiles[] = [
  inPackage("packages/sandbox", harness),
  inPackage("packages/agents", shelf),
  inPackage("packages/python", ruff, "node_modules"),
  ...pages.map((page) => inPackage("packages/mcp", page)),
];

/** Adds the path of a package to the files that it lists, because only the stacks know this path. */
function inPackage(folder: string, { readBy, from, to }: CarriedFiles, files = folder): CarriedFiles {
  return { readBy: `${folder}/${readBy}`, from: `${files}/${from}`, to };
}

/** Returns false for the caches of Python on the deploying machine, so that no bundle contains them. */
const filter = (path: string) => basename(path) !== "__pycache__";

/**
 * Copies the files in `carried` into bundles. A bundle gets a file only if it contains the module that reads the file.
 */
const carryFiles: Plugin = {
  name: "carry-files",
  setup(build) {
    const { outdir = "", absWorkingDir = process.cwd() } = build.initialOptions;
    build.onEnd(async ({ metafile }) => {
      const modules = new Set(Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.keys(inputs)));
      const needed = carried.filter(({ readBy }) => modules.has(readBy));
      for (const { from, to } of needed) {
        await cp(join(absWorkingDir, from), join(outdir, to), { recursive: true, filter });
      }
    });
  },
};

/**
 * The settings of the bundler. It splits bundles, so that a starting Lambda does not read modules that are imported
 * dynamically.
 */
export const bundling = {
  format: "esm",
  splitting: true,
  minify: true,
  sourcemap: false,
  esbuild: { plugins: [importAttributes, leaveOut, carryFiles] },
} satisfies BundlingOptions;
