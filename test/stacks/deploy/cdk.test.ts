import { exec } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { root } from "../../support/imports.ts";

const { devDependencies } = createRequire(import.meta.url)("../../../package.json");
const cache = mkdtempSync(join(tmpdir(), "nova-npm-"));
afterAll(() => rmSync(cache, { recursive: true, force: true }));

/**
 * Runs cdk like SST at the first deployment of an account (`npx cdk bootstrap`), without a registry and a cache of npm.
 */
it("the pinned cdk is found in the project, without a download", async () => {
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
