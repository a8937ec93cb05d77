import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/imports.ts";
import { awsAt, shell } from "./environment.ts";
import { CommandFailed, type Processes } from "./processes.ts";

/** Deploys NOVA into the AWS at this endpoint, with `npm run deploy -- --stage production`. */
export async function deploy(processes: Processes, endpoint: string): Promise<void> {
  const command = ["npm", "run", "deploy", "--", "--stage", "production"];
  const before = leftovers();
  try {
    const ended = await processes.run(command, { cwd: root, env: { ...shell(), ...awsAt(endpoint), CI: "true" } });
    if (ended.code !== 0) throw new CommandFailed(command, ended);
  } finally {
    // An interrupted command ends soon after this, so the files are removed synchronously.
    for (const name of leftovers().filter((one) => !before.includes(one))) rmSync(join(root, name));
  }
}

/** Returns the files with SST's compiled configuration. SST does not remove them if it is interrupted. */
function leftovers(): string[] {
  return readdirSync(root).filter((name) => /^\.sst\.config\.\d+\.mjs$/.test(name));
}
