/** Variables of whoever deploys that are handed on to the functions where they are set; functions/environment.ts says what they mean. */
const handedOn = [
  "DEFAULT_MODEL",
  "NOVA_EMBEDDING_MODEL",
  "NOVA_FROZEN",
  "NOVA_LINK_BASE",
  "NOVA_LLM_API",
  "OPENAI_BASE_URL",
];

export function settingsFrom(variables: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    handedOn.flatMap((name) => {
      const value = variables[name];
      return value ? [[name, value]] : [];
    }),
  );
}

export type SecretName = "E2B_API_KEY" | "OPENAI_API_KEY";

/** Where whoever deploys puts a key: `/nova/production/E2B_API_KEY`. */
export function parameterName(stage: string, secret: SecretName): string {
  return `/nova/${stage}/${secret}`;
}
