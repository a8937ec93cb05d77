import { GetParametersCommand, SSMClient } from "@aws-sdk/client-ssm";
import { reaching } from "./clients/outage.ts";
import { patientRetries } from "./clients/retries.ts";

/**
 * Values of parameters of Systems Manager by their names, decrypted; at most ten (the service's limit for one call). Names
 * that it does not know are missing in the answer. One call, with a client of its own: nobody asks a second time.
 */
export async function readParameters(names: string[]): Promise<Map<string, string>> {
  const client = new SSMClient({ retryStrategy: patientRetries() });
  try {
    const command = new GetParametersCommand({ Names: names, WithDecryption: true });
    const { Parameters = [] } = await reaching("Systems Manager", () => client.send(command));
    return new Map(Parameters.map(({ Name = "", Value = "" }) => [Name, Value]));
  } finally {
    client.destroy();
  }
}
