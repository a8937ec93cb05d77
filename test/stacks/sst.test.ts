import { exec } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { outputsFile, sstDeploy } from "../../stacks/sst.ts";
import { root } from "../support/imports.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nova-sst-"));
  mkdirSync(join(folder, ".sst"));
  writeFileSync(outputsFile(folder), "of the deployment before");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Installs a shell script that takes the place of the program `sst`. */
function sst(script: string): void {
  writeFileSync(join(folder, "sst"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "sst"), 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH}`);
}

describe("a deployment", () => {
  it.each([
    ["fails if SST exits with 0 and writes no outputs", "exit 0", 1],
    ["fails if SST reports a failure", "exit 3", 3],
    ["succeeds if SST writes outputs", "echo {} > .sst/outputs.json", 0],
  ])("depends on the result of SST: it %s", async (_, script, code) => {
    sst(script);
    expect(await sstDeploy(folder, ["--stage", "production"])).toBe(code);
  });
});

const identity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::123456789012:user/me</Arn><UserId>me</UserId><Account>123456789012</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`;

const home = mkdtempSync(join(tmpdir(), "nova-cdk-"));

/**
 * `cdk bootstrap` caches the AWS account by the id of the access key. For a new key it must ask AWS for the account.
 */
it("SST finds the AWS account of an access key that this machine has never used", async () => {
  const sts = createServer((_, response) => response.end(identity)).listen(0, "127.0.0.1");
  await once(sts, "listening");
  const variables = {
    AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${(sts.address() as AddressInfo).port}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "never-seen",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_PROFILE: undefined,
    CDK_HOME: home,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  // The modules of CDK with which SST signs in to AWS.
  const toolkit = createRequire(createRequire(import.meta.url).resolve("@aws-cdk/toolkit-lib/package.json"));
  const { AwsCliCompatible } = toolkit("./lib/api/aws-auth/awscli-compatible.js");
  const { SDK } = toolkit("./lib/api/aws-auth/sdk.js");
  const silent = async () => undefined;
  const host = { notify: silent, defaults: { debug: silent, warn: silent, trace: silent, info: silent } };
  try {
    const { credentialProvider } = await new AwsCliCompatible(host, {}).baseConfig();
    const sdk = new SDK(credentialProvider, "us-east-1", {}, host);
    expect(await sdk.currentAccount()).toEqual({ accountId: "123456789012", partition: "aws" });
  } finally {
    sts.close();
  }
});

const { devDependencies } = createRequire(import.meta.url)("../../package.json");
const cache = mkdtempSync(join(tmpdir(), "nova-npm-"));
afterAll(() => {
  for (const made of [home, cache]) rmSync(made, { recursive: true });
});

/**
 * Runs cdk as SST does at the first deployment (`npx cdk bootstrap`), without a registry and with an empty npm cache.
 */
it("npx finds the pinned cdk in the project, without a download", async () => {
  const noRegistry = {
    npm_config_registry: "http://127.0.0.1:9",
    npm_config_cache: cache,
    npm_config_fetch_retries: "0",
  };
  const { stdout } = await promisify(exec)("npx cdk --version", {
    cwd: root,
    env: { ...process.env, ...noRegistry },
  });
  expect(stdout.split(" ")[0]).toBe(devDependencies["aws-cdk"]);
});
