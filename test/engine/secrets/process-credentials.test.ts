import { describe, expect, it } from "vitest";
import { NovaError } from "../../../packages/engine/src/errors.ts";
import { maskCredentials } from "../../../packages/engine/src/secrets/process-credentials.ts";

const variables = {
  OPENAI_API_KEY: "sk-proj-Abc/def+123==",
  E2B_API_KEY: "e2b_0123456789abcdef",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG",
  AWS_SESSION_TOKEN: "IQoJb3JpZ2luX2VjEJr",
  PROVIDER_SECRET: "s3cret-of-a-webhook",
  HTTPS_PROXY: "http://ada:correct-horse@proxy.example.com:3128",
};

describe("an error message of this process", () => {
  it.each(Object.entries({ ...variables, HTTPS_PROXY: "correct-horse" }))("has no %s", (_, credential) => {
    const spellings = [
      credential,
      encodeURIComponent(credential).replaceAll(/%../g, (one) => one.toLowerCase()),
      btoa(`x:${credential}`),
    ];
    const said = spellings.map((one) => maskCredentials(`the key ${one} is refused`, variables));
    expect(said[0]).toBe("the key *** is refused");
    for (const [index, spelling] of spellings.entries()) expect(said[index]).not.toContain(spelling);
  });

  it("keeps names of keys, files with keys and short values", () => {
    const others = {
      NOVA_SIGNING_KMS_KEY: "12345678-1234-1234-1234-123456789012",
      ROLE_KEY: "arn:aws:kms:eu-west-1:1:key/a",
      SSH_KEY: "/home/ada/.ssh/id_rsa",
      NOVA_RATE_PER_KEY: "100000000",
      TEST_TOKEN: "local",
      HOME: "/home/ada/long/enough",
    };
    const text = Object.values(others).join(" ");
    expect(maskCredentials(text, others)).toBe(text);
  });

  it("masks a key that is set later", () => {
    process.env.LATER_API_KEY = "later-than-the-first-message";
    try {
      const { message } = new NovaError("SandboxUnavailable", "401 for later-than-the-first-message");
      expect(message).toBe("401 for ***");
    } finally {
      delete process.env.LATER_API_KEY;
    }
  });
});
