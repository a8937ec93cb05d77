import { describe, expect, it } from "vitest";
import { parameterName, settingsFrom } from "../../../stacks/engine/settings.ts";

describe("the settings of a deployment", () => {
  it.each([
    ["which model is asked", { DEFAULT_MODEL: "gpt-6.1-terra" }],
    ["whether models are asked at all", { NOVA_FROZEN: "false" }],
    ["where tasks are answered", { NOVA_LINK_BASE: "https://nova.example.com/tasks" }],
  ])("hand on %s", (_, variables) => {
    expect(settingsFrom(variables)).toEqual(variables);
  });

  it.each([
    ["a key", { E2B_API_KEY: "e2b_1", OPENAI_API_KEY: "sk-1" }],
    ["credentials of whoever deploys", { AWS_ACCESS_KEY_ID: "AKIA", AWS_SESSION_TOKEN: "token" }],
    ["what is the laptop's", { NOVA_SIGNING_KEY: "00", NOVA_TABLE: "nova", NOVA_DATA_DIR: ".nova" }],
    ["what is empty", { DEFAULT_MODEL: "" }],
  ])("keep back %s", (_, variables) => {
    expect(settingsFrom(variables)).toEqual({});
  });
});

it("names a parameter by stage, so that stages have keys of their own", () => {
  expect(parameterName("production", "E2B_API_KEY")).toBe("/nova/production/E2B_API_KEY");
  expect(parameterName("ada", "E2B_API_KEY")).toBe("/nova/ada/E2B_API_KEY");
});
