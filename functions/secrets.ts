import { logger } from "./app.ts";

/** Keys that a deployed function gets from Systems Manager, so that nobody who may see its configuration sees them. */
const secrets = ["E2B_API_KEY", "OPENAI_API_KEY"] as const;

/** Loaded here, because it is needed once per process, and on a laptop never. */
const readParameters = async (names: string[]) => (await import("@nova/aws/parameters")).readParameters(names);

/** Puts the parameter that `<NAME>_PARAMETER` names into `<NAME>`, where SDKs look. One that is missing is logged. */
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
    else logger.warn(`there is no parameter ${parameter} - see "Deploy" in the README`, { variable: name });
  }
}

let loading: Promise<void> | undefined;

/** Once per process; what failed is tried again by the next invocation. */
export function warmSecrets(): Promise<void> {
  loading ??= loadSecrets(process.env).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
