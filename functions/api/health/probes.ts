import type { ServicePorts } from "@nova/service";

export type Probed = "dynamodb" | "s3" | "states" | "e2b" | "model";

/** What is wrong with a key. Anybody may read the message: nothing in it came from elsewhere. */
export class KeyUnusable extends Error {
  override name = "KeyUnusable";
}

/** One cheap question to each service; that it is answered at all is what counts. Of E2B, that our key is taken. */
export function probesOf(ports: ServicePorts, variables: NodeJS.ProcessEnv): Record<Probed, () => Promise<unknown>> {
  const { OPENAI_BASE_URL = "https://api.openai.com/v1" } = variables;
  return {
    dynamodb: () => ports.keys.get("key_00000000000000000000000000"),
    s3: () => unlessMissing(ports.blobs.get({ client: "default", root: noExecution }, "0".repeat(64))),
    states: () => ports.stateMachines.describe(machineArn(variables), noExecution),
    e2b: () => killNothing(ports, variables),
    model: () => reach(`${OPENAI_BASE_URL}/models`),
  };
}

/** No execution has this id. */
const noExecution = "exec_health";

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

/** What a cancellation asks of E2B, for a run that has no sandboxes: it takes a key that E2B accepts. */
async function killNothing({ sandboxes }: ServicePorts, { E2B_API_KEY }: NodeJS.ProcessEnv): Promise<void> {
  if (!E2B_API_KEY) throw new KeyUnusable('E2B_API_KEY is not set - see "Deploy" in the README');
  try {
    await sandboxes.killAll(noExecution);
  } catch (cause) {
    const isRefused = cause instanceof Error && cause.name === "NodeFailed";
    throw isRefused ? new KeyUnusable("E2B refuses the key in E2B_API_KEY", { cause }) : cause;
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
