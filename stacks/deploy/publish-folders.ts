/** Runs `nova` with these arguments and variables; answers what it printed. Throws where it fails. */
export type Nova = (args: readonly string[], variables: Record<string, string>) => Promise<string>;

/** Outputs of each stack, by its name, as SST writes them. */
export type Outputs = Record<string, Record<string, string>>;

/**
 * Publishes folders with workflows through the API that was just deployed, with a key that is made for it in the table
 * and deleted afterwards, whatever came of it. Those that others run come first.
 */
export async function publishFolders(nova: Nova, outputs: Outputs, folders: readonly string[]): Promise<void> {
  if (folders.length === 0) return;
  const table = { NOVA_TABLE: outputOf(outputs, "storage", "Table") };
  const url = outputOf(outputs, "api", "Url");
  const made = await nova(["keys", "create", "--role", "editor", "--name", "deployment", "--json"], table);
  const { id, key } = JSON.parse(made) as { id: string; key: string };
  try {
    await nova(["publish", ...folders], { NOVA_URL: url, NOVA_API_KEY: key });
  } finally {
    await nova(["keys", "delete", id], table);
  }
}

/** A deployment of a part of the stacks has not all of them. */
export class OutputMissing extends Error {
  override name = "OutputMissing";
}

function outputOf(outputs: Outputs, stack: string, name: string): string {
  const [, found] = Object.entries(outputs).find(([key]) => key.endsWith(`-nova-${stack}`)) ?? [];
  const value = found?.[name];
  if (value) return value;
  throw new OutputMissing(
    `the stack "${stack}" has no output ${name} - deploy all stacks, or publish with nova publish`,
  );
}
