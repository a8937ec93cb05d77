/**
 * Values of parameters of Systems Manager by their names, decrypted; at most ten (the service's limit for one call).
 * Names that it does not know are missing in the answer.
 */
export async function readParameters(names: string[]): Promise<Map<string, string>> {
  // Loaded here, because it is needed once per process, and on a laptop never.
  const { askSsm } = await import("./ask-ssm.ts");
  return askSsm(names);
}
