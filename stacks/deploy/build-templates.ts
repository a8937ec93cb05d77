import type { Nova } from "./publish-folders.ts";

/** Builds the sandbox templates that workflows with requirements look for, where the E2B account has them not yet. */
export async function buildTemplates(nova: Nova, folders: readonly string[]): Promise<void> {
  for (const folder of folders) await nova(["template", "build", folder, "--missing"], {});
}
