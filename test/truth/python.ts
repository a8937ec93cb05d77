import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../support/imports.ts";
import { shell } from "./environment.ts";
import type { Processes } from "./processes.ts";

const requirements = fileURLToPath(new URL("moto/requirements.txt", import.meta.url));

/**
 * Returns the path of a Python that has moto. It creates a virtual environment on first use, in the cache of
 * node_modules.
 */
export async function pythonWithMoto(processes: Processes): Promise<string> {
  const python = process.env.NOVA_PYTHON ?? "python3";
  const options = { cwd: root, env: shell() };
  const version = await processes.output([python, "--version"], options);
  const key = createHash("sha256").update(version).update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const folder = join(root, "node_modules/.cache/nova-truth", key);
  const own = join(folder, "bin/python");
  const complete = join(folder, "complete");
  if (existsSync(complete)) return own;
  // The folder may be incomplete if an earlier command was interrupted, so it is created again.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await processes.output([python, "-m", "venv", folder], options);
  await processes.output([own, "-m", "pip", "install", "--quiet", "--requirement", requirements], options);
  await writeFile(complete, "");
  return own;
}
