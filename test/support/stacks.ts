import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Template } from "aws-cdk-lib/assertions";
import { Aspects } from "aws-cdk-lib/core";
import { AwsSolutionsChecks } from "cdk-nag";
import { App, type NodeJSProps } from "sst/constructs";
import { useFunctions } from "sst/constructs/Function.js";
import { setProject } from "sst/project.js";
import { useRuntimeHandlers } from "sst/runtime/handlers.js";
import { load } from "sst/stacks/build.js";
import { root } from "./imports.ts";

export type StackName = "storage" | "engine" | "triggers" | "api" | "console" | "monitoring";

export interface Synthesised {
  templates: Record<StackName, Template>;
  /** Findings of cdk-nag for which the stacks list no reason: `<path>: <finding>`. */
  findings: string[];
  /** Bundles a function as the deployment does. */
  bundle(functionName: string): Promise<Bundle>;
}

export interface Bundle {
  folder: string;
  /** The files that esbuild wrote, by path, as it describes them. */
  outputs: Record<string, BundleOutput>;
}

export interface BundleOutput {
  /** Path of the source file that Lambda starts. */
  entryPoint?: string;
  imports: { path: string; kind: string }[];
  /** The source files in this bundle, by path. */
  inputs: Record<string, unknown>;
}

/**
 * The environment variables of the person who deploys. In the stage `production`, every variable that adds a resource
 * is set. In the stage of a developer, none of them is set.
 */
const variables = {
  production: {
    NOVA_ALARM_MAIL: "ops@example.com",
    NOVA_API_CERTIFICATE_ARN: "arn:aws:acm:us-east-1:123456789012:certificate/1",
    NOVA_API_DOMAIN: "nova.example.com",
    NOVA_CONSOLE_CERTIFICATE_ARN: "arn:aws:acm:us-east-1:123456789012:certificate/2",
    NOVA_CONSOLE_DOMAIN: "console.example.com",
    NOVA_CORS_ORIGINS: "https://pages.example.com",
    NOVA_JWT_ISSUER: "https://login.example.com/",
    NOVA_VERIFY: "daily",
    NOVA_MAIL_DOMAINS: "in.example.com",
  },
  ada: {},
};

type Plugin = NonNullable<NonNullable<NodeJSProps["esbuild"]>["plugins"]>[number];

const made = new Map<string, Promise<Synthesised>>();

/**
 * Synthesises the stacks as `sst deploy --stage <stage>` does, but without an AWS account. All tests of a process share
 * the result.
 */
export function stacksOf(stage: keyof typeof variables): Promise<Synthesised> {
  const stacks = made.get(stage) ?? synthesise(stage);
  made.set(stage, stacks);
  return stacks;
}

async function synthesise(stage: keyof typeof variables): Promise<Synthesised> {
  const out = mkdtempSync(join(tmpdir(), "nova-stacks-"));
  // SST writes its log into this folder until the process ends, so the folder is removed only then.
  process.once("exit", () => rmSync(out, { recursive: true, force: true }));
  process.env.JSII_DEPRECATED = "quiet";
  const file = join(root, "sst.config.ts");
  const [metafile, config] = await load(file);
  const { name, region } = config.config({});
  const paths = { root, config: file, out, artifacts: join(out, "artifacts") };
  const project = { name, region, stage, ssmPrefix: `/sst/${name}/${stage}/` };
  setProject({
    config: project,
    version: "",
    cdkVersion: "",
    constructsVersion: "",
    paths,
    metafile,
    stacks: config.stacks,
  });
  bundleNothing(join(out, "bundle"));
  const app = new App({ mode: "deploy", stage, name, region, account: "123456789012" }, { outdir: join(out, "cdk") });
  withVariables(variables[stage], () => config.stacks(app));
  Aspects.of(app).add(new AwsSolutionsChecks());
  await app.finish();
  const { stacks } = app.synth();
  const findings = stacks.flatMap(({ messages }) => messages.map(({ id, entry }) => `${id}: ${entry.data}`));
  const templates = stacks.map(({ stackName, template }) => [
    stackName.replace(`${stage}-${name}-`, ""),
    Template.fromJSON(template),
  ]);
  return { templates: Object.fromEntries(templates), findings, bundle };
}

function withVariables(given: NodeJS.ProcessEnv, use: () => void): void {
  const before = { ...process.env };
  const others = Object.keys(before).filter((name) => /^(NOVA_|E2B_TEMPLATE_ID|DEFAULT_MODEL|OPENAI_BASE)/.test(name));
  for (const name of others) delete process.env[name];
  Object.assign(process.env, given);
  use();
  for (const name of Object.keys(given)) delete process.env[name];
  Object.assign(process.env, before);
}

type Build = ReturnType<typeof useRuntimeHandlers>["build"];
let sstBuild: Build | undefined;

/**
 * Makes SST use an empty bundle for each function, because bundling takes seconds for each function. The templates do
 * not depend on the contents of the bundles.
 */
function bundleNothing(out: string): void {
  mkdirSync(out);
  writeFileSync(join(out, "index.mjs"), "");
  const handlers = useRuntimeHandlers();
  sstBuild ??= handlers.build;
  handlers.build = async (id) => ({
    type: "success",
    sourcemap: undefined,
    handler: useFunctions().fromID(id)?.handler ?? "",
    out,
  });
}

async function bundle(functionName: string): Promise<Bundle> {
  const [id = "", props] =
    Object.entries(useFunctions().all).find(([, { functionName: name }]) => name === functionName) ?? [];
  const { nodejs = {} } = props ?? {};
  const outputs: Bundle["outputs"] = {};
  const remember: Plugin = {
    name: "remember-outputs",
    setup: ({ onEnd }) => onEnd(({ metafile }) => void Object.assign(outputs, metafile?.outputs)),
  };
  const plugins = [...(nodejs.esbuild?.plugins ?? []), remember];
  Object.assign(props ?? {}, { nodejs: { ...nodejs, esbuild: { ...nodejs.esbuild, plugins } } });
  const built = await sstBuild?.(id, "deploy");
  if (built?.type !== "success") throw new Error(`SST could not bundle "${functionName}": ${built?.errors.join("; ")}`);
  return { folder: built.out, outputs };
}
