import { afterEach, expect, it, vi } from "vitest";
import { dataFolder } from "../../packages/cli/src/cloud.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  ["the folder that NOVA_DATA_DIR names", "/data", "/data"],
  [".nova if NOVA_DATA_DIR is empty", "", ".nova"],
  [".nova if NOVA_DATA_DIR is not set", undefined, ".nova"],
])("the data folder is %s", (_what, value, folder) => {
  vi.stubEnv("NOVA_DATA_DIR", value);
  expect(dataFolder()).toBe(folder);
});
