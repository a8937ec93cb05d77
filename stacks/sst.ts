import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { SSTConfig } from "sst";
import type { App } from "sst/constructs";

/**
 * The only file that knows SST: the stacks, `sst.config.ts` and the deployment use it through these names. To replace
 * SST, replace this file.
 */
export type { NodeJSProps as BundlingOptions, Stack, StackContext } from "sst/constructs";
export { Function as Lambda, use } from "sst/constructs";

type StackFunction = Parameters<App["stack"]>[0];

/** Returns the configuration that the `sst` command reads. Each stack may use the stacks before it. */
export function configOf(name: string, region: string, stacks: readonly StackFunction[]): SSTConfig {
  return {
    config: () => ({ name, region }),
    stacks(app) {
      // The policy of the bucket allows access logs. The older method needs access control lists, which are off.
      app.node.setContext("@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy", true);
      for (const stack of stacks) app.stack(stack);
      // SST adds a Lambda for custom resources (secrets, sites, source maps) to each stack. NOVA uses none of these.
      for (const stack of app.node.children) stack.node.tryRemoveChild("CustomResourceHandler");
    },
  };
}

/** Returns the path of the file that SST writes last, after it has deployed all stacks. */
export function outputsFile(root: string): string {
  return join(root, ".sst/outputs.json");
}

/**
 * Runs `sst deploy` in the folder of the project and shows its output. Returns its exit code. If SST wrote no outputs,
 * returns 1, because SST 2 exits with 0 under Node 24 even if the deployment failed.
 */
export async function sstDeploy(root: string, args: readonly string[]): Promise<number> {
  const outputs = outputsFile(root);
  await rm(outputs, { force: true });
  const sst = spawn("sst", ["deploy", ...args], { cwd: root, stdio: "inherit" });
  const code = await new Promise<number>((resolve, reject) =>
    sst.on("error", reject).on("close", (code) => resolve(code ?? 1)),
  );
  return code === 0 && !existsSync(outputs) ? 1 : code;
}
