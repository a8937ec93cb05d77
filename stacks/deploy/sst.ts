import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

/** What SST writes last, when all stacks stand. */
export function outputsFile(root: string): string {
  return join(root, ".sst/outputs.json");
}

/**
 * Runs `sst deploy` in the folder of the project. What it prints is for whoever deploys. Answers its exit code, or 1 where
 * it wrote no outputs: SST 2 ends with 0 under Node 24, whatever became of the stacks.
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
