import { type Outputs, requireOutput } from "./outputs.ts";

/** Runs `nova` with these arguments and variables and returns its output. Throws if it fails. */
export type Nova = (args: readonly string[], variables: Record<string, string>) => Promise<string>;

/**
 * Publishes folders of workflows through the deployed API. It creates a key in the table, and always deletes it
 * afterwards. Workflows that others run come first.
 */
export async function publishFolders(nova: Nova, outputs: Outputs, folders: readonly string[]): Promise<void> {
  if (folders.length === 0) return;
  const table = { NOVA_TABLE: requireOutput(outputs, "storage", "Table") };
  const url = requireOutput(outputs, "api", "Url");
  const made = await nova(["keys", "create", "--role", "editor", "--name", "deployment", "--json"], table);
  const { id, key } = JSON.parse(made) as { id: string; key: string };
  try {
    await nova(["publish", ...folders], { NOVA_URL: url, NOVA_API_KEY: key });
  } finally {
    await nova(["keys", "delete", id], table);
  }
}

/** Builds the sandbox templates of workflows with requirements, unless the E2B account has them. */
export async function buildTemplates(nova: Nova, folders: readonly string[]): Promise<void> {
  for (const folder of folders) await nova(["template", "build", folder, "--missing"], {});
}
