import { root } from "../support/imports.ts";
import { awsAt, shell } from "./environment.ts";
import { CommandFailed, type Processes } from "./processes.ts";

/** Deploys what `npm run deploy -- --stage production` deploys, into the AWS at this endpoint. */
export async function deploy(processes: Processes, endpoint: string): Promise<void> {
  const command = ["npm", "run", "deploy", "--", "--stage", "production"];
  const ended = await processes.run(command, { cwd: root, env: { ...shell(), ...awsAt(endpoint), CI: "true" } });
  if (ended.code !== 0) throw new CommandFailed(command, ended);
}
