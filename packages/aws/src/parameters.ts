import { GetParametersCommand, SSMClient } from "@aws-sdk/client-ssm";
import { patientRetries, reportOutage } from "./clients/outage.ts";

/**
 * Reads and decrypts parameters of Systems Manager, at most ten (the service's limit per call). The result does not
 * contain names that the service does not know. The client is closed afterwards, because a process reads its parameters
 * once.
 */
export async function readParameters(names: string[]): Promise<Map<string, string>> {
  const client = new SSMClient({ retryStrategy: patientRetries() });
  try {
    const command = new GetParametersCommand({ Names: names, WithDecryption: true });
    const { Parameters = [] } = await reportOutage("Systems Manager", () => client.send(command));
    return new Map(Parameters.map(({ Name = "", Value = "" }) => [Name, Value]));
  } finally {
    client.destroy();
  }
}
