import { Logger } from "@aws-lambda-powertools/logger";
import { createAwsPorts } from "@nova/aws";
import { type EventBus, type Links, type Ports, SandboxPool } from "@nova/engine";
import { createSandboxes } from "@nova/sandbox";
import { Environment } from "./environment.ts";
import { noPipeline } from "./no-pipeline.ts";

export const logger = new Logger({ serviceName: "nova" });

/** The composition root: every port of the engine, with its adapter. */
export function createPorts(variables: NodeJS.ProcessEnv): Ports {
  const env = Environment.parse(variables);
  const signer =
    env.NOVA_SIGNING_KMS_KEY !== undefined
      ? { kmsKeyId: env.NOVA_SIGNING_KMS_KEY }
      : { keyHex: env.NOVA_SIGNING_KEY ?? "" };
  const aws = createAwsPorts({
    table: env.NOVA_TABLE,
    bucket: env.NOVA_BUCKET,
    roleArn: env.NOVA_STATES_ROLE_ARN,
    s3PathStyle: env.NOVA_S3_PATH_STYLE,
    signer,
    vault:
      env.NOVA_VAULT_KMS_KEY !== undefined
        ? { kmsKeyId: env.NOVA_VAULT_KMS_KEY }
        : { keyHex: env.NOVA_VAULT_KEY ?? "" },
  });
  return {
    ...aws,
    sandboxes: createSandboxes(),
    pipeline: noPipeline,
    spares: new SandboxPool(),
    events: eventLog,
    links: linksTo(env.NOVA_LINK_BASE),
    clock: { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
  };
}

/** Events of executions as structured log lines, which a metric filter or a subscription can pick up. */
const eventLog: EventBus = {
  async publish(type, detail) {
    logger.info(type, { detail: JSON.stringify(detail) });
  },
};

function linksTo(base: string | undefined): Links {
  return {
    toTask: ({ id, execution, node, choices }) =>
      base === undefined
        ? `nova approve ${execution} ${node} --choice ${choices.join("|")}`
        : `${base.replace(/\/$/, "")}/${id}`,
  };
}

let ports: Ports | undefined;

/** Made at the first invocation of a process and kept while it is warm. */
export function warmPorts(): Ports {
  ports ??= createPorts(process.env);
  return ports;
}
