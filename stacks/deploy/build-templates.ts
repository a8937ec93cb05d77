import type { Nova } from "./publish-folders.ts";

/** Builds the sandbox templates of workflows with requirements, unless the E2B account has them. */
export async function buildTemplates(nova: Nova, folders: readonly string[]): Promise<void> {
  for (const folder of folders) await nova(["template", "build", folder, "--missing"], {});
}
