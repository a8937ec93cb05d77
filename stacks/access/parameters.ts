export type SecretName = "E2B_API_KEY" | "OPENAI_API_KEY";

/** Where whoever deploys puts a key: `/nova/production/E2B_API_KEY`. */
export function parameterName(stage: string, secret: SecretName): string {
  return `/nova/${stage}/${secret}`;
}
