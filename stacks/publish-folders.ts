/** Runs `nova` with these arguments and variables and returns its output. Throws if it fails. */
export type Nova = (args: readonly string[], variables: Record<string, string>) => Promise<string>;

/**
 * Publishes folders of workflows through the deployed API. It creates an API key for this in the table, and always
 * deletes the key afterwards. It publishes called workflows before their callers.
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

/** The outputs of each stack by its name, as SST writes them. */
export type Outputs = Record<string, Record<string, string>>;

/** Thrown if the deployment lacks a stack, so that its outputs are missing. */
export class OutputMissing extends Error {
  override name = "OutputMissing";
}

/** Returns an output of a stack, or undefined if the stack was not deployed. */
export function findOutput(outputs: Outputs, stack: string, name: string): string | undefined {
  const [, found] = Object.entries(outputs).find(([key]) => key.endsWith(`-nova-${stack}`)) ?? [];
  return found?.[name];
}

/** Returns an output of a stack. Throws `OutputMissing` if the stack was not deployed. */
function requireOutput(outputs: Outputs, stack: string, name: string): string {
  const value = findOutput(outputs, stack, name);
  if (value) return value;
  throw new OutputMissing(`the stack "${stack}" has no output ${name} - deploy all stacks`);
}
