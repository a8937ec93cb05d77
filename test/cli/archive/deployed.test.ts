import { afterEach, describe, expect, it, vi } from "vitest";
import { explainAwsErrors, withDeployed } from "../../../packages/cli/src/cloud.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

function refusal(name: string, message = "no"): Error {
  return Object.assign(new Error(message), { name });
}

describe("an error of AWS", () => {
  it.each([
    [refusal("ResourceNotFoundException"), 'there is no table "nova" in eu-west-1 - name it as the deployment printed'],
    [refusal("NoSuchBucket"), 'there is no bucket "things" - name it as the deployment printed it in NOVA_BUCKET'],
    [refusal("PermanentRedirect"), 'the bucket "things" is not in eu-west-1 - set AWS_REGION'],
    [refusal("Error", "Region is missing"), "AWS_REGION is not set - set it to the region of the deployment"],
    [
      refusal("CredentialsProviderError"),
      "AWS rejects the credentials of this shell (CredentialsProviderError) - set AWS_",
    ],
    [refusal("ExpiredTokenException"), "AWS rejects the credentials of this shell (ExpiredTokenException)"],
    [refusal("UnrecognizedClientException"), "AWS rejects the credentials of this shell"],
    [refusal("InvalidAccessKeyId"), "AWS rejects the credentials of this shell"],
    [
      refusal("AccessDenied", "not allowed to"),
      "credentials may not do this: not allowed to - use credentials that may",
    ],
  ])("is explained to the user in one sentence: %s", async (error, sentence) => {
    vi.stubEnv("AWS_REGION", "eu-west-1");
    const reached = explainAwsErrors({ table: "nova", bucket: "things" }, () => Promise.reject(error));
    await expect(reached).rejects.toThrow(sentence);
    await expect(reached).rejects.toMatchObject({ name: "InvalidInput", cause: error });
  });

  it("is reported unchanged if no environment variable of this shell caused the error", async () => {
    const error = refusal("StoreUnavailable");
    await expect(explainAwsErrors({ table: "nova" }, () => Promise.reject(error))).rejects.toBe(error);
  });
});

it.each([
  ["NOVA_TABLE", "NOVA_BUCKET"],
  ["NOVA_BUCKET", "NOVA_TABLE"],
])("withDeployed sends no request to AWS without the environment variable %s", async (absent, there) => {
  vi.stubEnv(absent, "");
  vi.stubEnv(there, "x");
  await expect(withDeployed(async () => "asked")).rejects.toThrow("--aws needs NOVA_TABLE and NOVA_BUCKET");
});

it.each([
  ["signed with the key that NOVA_SIGNING_KMS_KEY names", "key-1", true],
  ["not signed if NOVA_SIGNING_KMS_KEY names no key", "", false],
])("an export of a deployment is %s", async (_, key, isSigned) => {
  for (const [name, value] of [
    ["NOVA_TABLE", "t"],
    ["NOVA_BUCKET", "b"],
    ["AWS_REGION", "eu-west-1"],
    ["NOVA_SIGNING_KMS_KEY", key],
  ] as const) {
    vi.stubEnv(name, value);
  }
  expect(await withDeployed(async ({ signer }) => signer !== undefined)).toBe(isSigned);
});
