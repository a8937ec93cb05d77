import { afterEach, describe, expect, it, vi } from "vitest";
import { enterEnvironment, environmentOf } from "../../../packages/local/src/cloud/environment.ts";
import type { Keys } from "../../../packages/local/src/cloud/keys.ts";
import type { Endpoints } from "../../../packages/local/src/cloud/owner-file.ts";

const keys: Keys = {
  accessKeyId: "NOVAKEY",
  secretAccessKey: "secret",
  e2bApiKey: "e2b_key",
  signingKey: "ab".repeat(32),
  adminKey: "admin",
};
const environment = () => environmentOf("/data", {} as Endpoints, keys);

describe("the environment variables of the local cloud", () => {
  it("name the region in one variable for the SDKs of JavaScript, and in another for boto3 and the AWS CLI", () => {
    expect(environment()).toMatchObject({ AWS_REGION: "us-east-1", AWS_DEFAULT_REGION: "us-east-1" });
  });

  it("contain the secret access key that signs requests, but not the key of the owner's admin endpoint", () => {
    expect(environment()).toMatchObject({ AWS_ACCESS_KEY_ID: "NOVAKEY", AWS_SECRET_ACCESS_KEY: "secret" });
    expect(Object.values(environment())).not.toContain("admin");
  });
});

describe("a process that uses the local cloud", () => {
  const before = { ...process.env };
  afterEach(() => {
    vi.unstubAllEnvs();
    for (const name of Object.keys(environment())) delete process.env[name];
    Object.assign(process.env, before);
  });

  it.each([
    ["AWS_REGION", "us-east-1"],
    ["AWS_DEFAULT_REGION", "us-east-1"],
    ["AWS_PROFILE", undefined],
    ["AWS_SESSION_TOKEN", undefined],
    ["AWS_ENDPOINT_URL", undefined],
  ])("replaces or removes the environment variable %s of the shell", (name, value) => {
    vi.stubEnv(name, "eu-west-3");
    enterEnvironment(environment());
    expect(process.env[name]).toBe(value);
  });
});
