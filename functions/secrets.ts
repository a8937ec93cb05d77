import { logger } from "./app.ts";

/** Keys that a deployed function reads from Systems Manager, so that its configuration does not show them. */
const secrets = ["E2B_API_KEY", "OPENAI_API_KEY"] as const;

/** Loads the SDK on demand: a process needs it once, and a laptop never. */
const readParameters = async (names: string[]) => (await import("@nova/aws/parameters")).readParameters(names);

/** Copies the parameter that `<NAME>_PARAMETER` names to `<NAME>`, where SDKs read it. Logs a missing one. */
export async function loadSecrets(variables: NodeJS.ProcessEnv, read = readParameters): Promise<void> {
  const named = secrets.flatMap((name) => {
    const parameter = variables[`${name}_PARAMETER`];
    return parameter ? [{ name, parameter }] : [];
  });
  if (named.length === 0) return;
  const values = await read(named.map(({ parameter }) => parameter));
  for (const { name, parameter } of named) {
    const value = values.get(parameter);
    if (value) variables[name] = value;
    else logger.warn(`there is no parameter ${parameter} - see docs/deploy.md`, { variable: name });
  }
}

let loading: Promise<void> | undefined;

/** Loads the secrets once per process; the next invocation repeats a failed load. */
export function warmSecrets(): Promise<void> {
  loading ??= loadSecrets(process.env).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
