import { describe, expect, it } from "vitest";
import { Environment } from "../../functions/environment.ts";

const least = { NOVA_BUCKET: "bucket", NOVA_SIGNING_KEY: "00".repeat(32), NOVA_VAULT_KEY: "11".repeat(32) };

describe("the environment of a function", () => {
  it("needs a bucket and a signing key, and has defaults for other variables", () => {
    expect(Environment.parse(least)).toMatchObject({ NOVA_TABLE: "nova", NOVA_S3_PATH_STYLE: false });
  });

  it("forbids requests to models by default", () => {
    expect(Environment.parse(least).NOVA_FROZEN).toBe(true);
    expect(Environment.parse({ ...least, NOVA_FROZEN: "0" }).NOVA_FROZEN).toBe(false);
  });

  it.each([
    ["no bucket", { ...least, NOVA_BUCKET: undefined }, /NOVA_BUCKET/],
    ["no signing key", { ...least, NOVA_SIGNING_KEY: undefined }, /NOVA_SIGNING_KMS_KEY .* or NOVA_SIGNING_KEY/],
    ["no vault key", { ...least, NOVA_VAULT_KEY: undefined }, /NOVA_VAULT_KMS_KEY .* or NOVA_VAULT_KEY/],
    ["a flag that is no flag", { ...least, NOVA_S3_PATH_STYLE: "perhaps" }, /NOVA_S3_PATH_STYLE/],
  ])("is refused with %s, which the error names", (_what, variables, message) => {
    expect(() => Environment.parse(variables)).toThrow(message);
  });
});
