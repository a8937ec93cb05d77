import { createHash } from "node:crypto";

/** Variables that only the process that runs nodes reads. */
const ofTheOwner = [
  "DEFAULT_MODEL",
  "NOVA_EMBEDDING_MODEL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "NOVA_LLM_API",
  "NOVA_E2B_CONCURRENT",
  "NOVA_E2B_CREATES_PER_SECOND",
] as const;

/** The variables of the process that owns the data folder. */
interface Settings {
  pid: number;
  instance: string;
  /** Made by `variableDigests`. */
  variables: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Digests of the variables that are set, because a key must not be in a file. The instance makes the digests useless
 * elsewhere.
 */
export function variableDigests(env: Variables, instance: string): Record<string, string> {
  return Object.fromEntries(
    ofTheOwner.flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, createHash("sha256").update(`${instance} ${name} ${value}`).digest("hex")]] : [];
    }),
  );
}

/** A sentence about the variables of this process that have no effect, because the owner has other values. */
export function describeIneffective(env: Variables, { pid, instance, variables }: Settings): string | undefined {
  const own = Object.entries(variableDigests(env, instance));
  const names = own.flatMap(([name, digest]) => (variables[name] === digest ? [] : [name]));
  if (names.length === 0) return undefined;
  const verb = names.length === 1 ? "has" : "have";
  return `${names.join(", ")} ${verb} no effect on nodes: process ${pid} runs them with its own settings - start that process with the same values, or choose another data folder (NOVA_DATA_DIR)`;
}
