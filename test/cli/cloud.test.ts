import { afterEach, expect, it, vi } from "vitest";
import { dataFolder } from "../../packages/cli/src/cloud.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  ["named", "/data", "/data"],
  [".nova where the variable is empty", "", ".nova"],
  [".nova where there is none", undefined, ".nova"],
])("the data folder is %s", (_what, value, folder) => {
  vi.stubEnv("NOVA_DATA_DIR", value);
  expect(dataFolder()).toBe(folder);
});
