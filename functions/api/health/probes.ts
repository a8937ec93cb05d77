import type { ServicePorts } from "@nova/service";

export type Probed = "dynamodb" | "s3" | "states" | "e2b" | "model";

/** One cheap question to each service; that it is answered at all is what counts. */
export function probesOf(ports: ServicePorts, variables: NodeJS.ProcessEnv): Record<Probed, () => Promise<unknown>> {
  const { E2B_API_URL, E2B_DOMAIN = "e2b.app", OPENAI_BASE_URL = "https://api.openai.com/v1" } = variables;
  return {
    dynamodb: () => ports.keys.get("key_00000000000000000000000000"),
    s3: () => unlessMissing(ports.blobs.get({ client: "default", root: "exec_health" }, "0".repeat(64))),
    states: () => ports.stateMachines.describe(machineArn(variables), "exec_health"),
    e2b: () => reach(`${E2B_API_URL ?? `https://api.${E2B_DOMAIN}`}/health`),
    model: () => reach(`${OPENAI_BASE_URL}/models`),
  };
}

/** A machine that is never made, where all the others are. */
function machineArn({ NOVA_STATES_ROLE_ARN = "", AWS_REGION = "us-east-1" }: NodeJS.ProcessEnv): string {
  const account = NOVA_STATES_ROLE_ARN.split(":")[4] ?? "000000000000";
  return `arn:aws:states:${AWS_REGION}:${account}:stateMachine:nova-health:1`;
}

async function unlessMissing(answer: Promise<unknown>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof Error && error.name === "BlobMissing")) throw error;
  }
}

/** Without a key: a refusal is an answer, too. */
async function reach(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(probeMs) });
  await answer.body?.cancel();
  if (answer.status >= 500) throw new RangeError(`${url} answered ${answer.status}`);
}

/** How long a service may take to count as there. */
export const probeMs = 2_000;
