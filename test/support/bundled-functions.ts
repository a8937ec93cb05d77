import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestProject } from "vitest/node";
import { bundleHandlers } from "./bundle.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of a module with all functions, bundled as they are deployed. */
    bundledFunctions: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "nova-functions-"));
  await bundleHandlers(["index"], folder);
  project.provide("bundledFunctions", pathToFileURL(join(folder, "functions/index.mjs")).href);
  return () => rm(folder, { recursive: true });
}
