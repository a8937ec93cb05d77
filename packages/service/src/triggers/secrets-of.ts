import type { ServicePorts } from "../ports/index.ts";

/** The secret values of one credential as they are now, in the order of its fields. Arguments and errors are those of `forNode`. */
export async function secretsOf(
  { credentials }: Pick<ServicePorts, "credentials">,
  client: string,
  workflow: string | null,
  name: string,
): Promise<string[]> {
  const { members, secrets } = await credentials.forNode(client, workflow, [name]);
  const known = new Set(secrets);
  return members
    .map(({ json }) => JSON.parse(json) as unknown)
    .filter((value): value is string => typeof value === "string" && known.has(value));
}
