import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";

const identity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::123456789012:user/me</Arn><UserId>me</UserId><Account>123456789012</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>`;

const home = mkdtempSync(join(tmpdir(), "nova-cdk-"));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

/**
 * `cdk bootstrap` caches the account by the id of the key in the home folder. Another machine or key must ask for it.
 */
it("the account is found for a key that this machine has never used", async () => {
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
  // The part of SST that signs in.
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
