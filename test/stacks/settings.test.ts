import { describe, expect, it } from "vitest";
import { mailSettingsFrom, settingsFrom, verifiesDaily } from "../../stacks/settings.ts";

describe("the settings of a deployment", () => {
  it.each([
    ["the model that is called", { DEFAULT_MODEL: "gpt-6.1-terra" }],
    ["whether models are called", { NOVA_FROZEN: "false" }],
    ["the address at which tasks are answered", { NOVA_LINK_BASE: "https://nova.example.com/tasks" }],
    ["the issuer that signs people in", { NOVA_JWT_ISSUER: "https://login.example.com/", NOVA_RATE_PER_KEY: "50" }],
    ["the pages that may call the API", { NOVA_CORS_ORIGINS: "https://console.example.com" }],
  ])("that are passed to functions include %s", (_, variables) => {
    expect(settingsFrom(variables)).toMatchObject(variables);
  });

  it.each([
    ["a key", { E2B_API_KEY: "e2b_1", OPENAI_API_KEY: "sk-1" }],
    ["the credentials of the deploying user", { AWS_ACCESS_KEY_ID: "AKIA", AWS_SESSION_TOKEN: "token" }],
    ["the variables of a laptop", { NOVA_SIGNING_KEY: "00", NOVA_TABLE: "nova", NOVA_DATA_DIR: ".nova" }],
    ["empty variables", { DEFAULT_MODEL: "" }],
  ])("that are not passed to functions include %s", (_, variables) => {
    expect(settingsFrom(variables)).toEqual({ NOVA_E2B_CONCURRENT: "100" });
  });

  it("allow a hundred runs at the same time if no other number is set", () => {
    expect(settingsFrom({}).NOVA_E2B_CONCURRENT).toBe("100");
    expect(settingsFrom({ NOVA_E2B_CONCURRENT: "20" }).NOVA_E2B_CONCURRENT).toBe("20");
  });
});

it("a deployment verifies all chains once a day only if the variable NOVA_VERIFY demands this", () => {
  expect([{}, { NOVA_VERIFY: "" }, { NOVA_VERIFY: "daily" }].map(verifiesDaily)).toEqual([false, false, true]);
  expect(() => verifiesDaily({ NOVA_VERIFY: "hourly" })).toThrow('NOVA_VERIFY is "hourly" - set it to "daily"');
});

describe("the mail of a deployment", () => {
  it.each([
    ["no domain and no sender, if no variable is set", {}, { domains: [] }],
    [
      "its domain",
      { NOVA_MAIL_DOMAINS: "In.example.com" },
      { domains: ["in.example.com"], from: "nova@in.example.com" },
    ],
    [
      "several domains, with the sender in the variables",
      { NOVA_MAIL_DOMAINS: "a.example.com, b.example.com,", NOVA_MAIL_FROM: "ops@example.com" },
      { domains: ["a.example.com", "b.example.com"], from: "ops@example.com" },
    ],
  ])("is configured for %s", (_, variables, settings) => {
    expect(mailSettingsFrom(variables)).toEqual(settings);
  });
});
