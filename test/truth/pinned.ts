import { join } from "node:path";
import { root } from "../support/imports.ts";
import { modelServer } from "../support/model-server/model-server.ts";
import { shell } from "./environment.ts";
import type { Processes } from "./processes.ts";

/** The answers of the models that write the node's code. */
const answers = [
  { needs_analysis: false, complexity: "simple" },
  { code: 'context["total"] = sum(context["lines"])' },
  { valid: true, reason: "the total is there" },
];

/** Lets a local model server write the code for the workflow's prompt, and pins that code in the workflow's folder. */
export async function pinPrompt(processes: Processes, folder: string, dataDir: string): Promise<void> {
  await using models = await modelServer(answers.map((json) => ({ answer: { json } })));
  const env = { ...shell(), ...models.environment, NOVA_DATA_DIR: dataDir };
  const nova = (...args: string[]) =>
    processes.output([process.execPath, join(root, "node_modules/.bin/nova"), ...args], { cwd: root, env });
  await nova("run", folder, "--set", "lines=[19.5, 3]");
  await nova("lock", folder);
}
