import { Logger } from "@aws-lambda-powertools/logger";
import { type AwsPorts, createAwsPorts, type NovaBus } from "@nova/aws/ports";
import * as engine from "@nova/engine";
import { preloadSdk } from "@nova/sandbox";
import type { Admissions, RunHookStores } from "@nova/service";
import { createOutgoing, type Outgoing } from "@nova/service/outgoing";
import { Environment } from "./environment.ts";
import { clock, hostNames, lazyValue, nodeParts, timer } from "./node-parts.ts";

export const logger = new Logger({
  serviceName: "nova",
  jsonReplacerFn: (_, value) => (typeof value === "string" ? engine.maskCredentials(value) : value),
});

export interface LambdaContext {
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

/**
 * The ports that every Lambda gets. In addition to the ports of the engine, these are a bus that loads the stored
 * details of large events, the limits for starts of queued runs, and access to servers that users name.
 */
export interface FunctionPorts extends engine.Ports {
  bus: NovaBus;
  admissions: Admissions;
  outgoing: Outgoing;
}

/** Creates every port of the engine with its adapter. */
export function createPorts(variables: NodeJS.ProcessEnv): FunctionPorts {
  const env = Environment.parse(variables);
  if (variables.AWS_LAMBDA_FUNCTION_NAME !== undefined) preloadSdk();
  const outgoing = createOutgoing({ allowsPrivate: env.NOVA_PRIVATE_HOSTS });
  const { runHookStores, pace, ...aws } = createAwsPorts({
    table: env.NOVA_TABLE,
    bucket: env.NOVA_BUCKET,
    eventBus: env.NOVA_EVENT_BUS,
    roleArn: env.NOVA_STATES_ROLE_ARN,
    statesLogGroupArn: env.NOVA_STATES_LOG_GROUP_ARN,
    s3PathStyle: env.NOVA_S3_PATH_STYLE,
    signer: keyOf(env.NOVA_SIGNING_KMS_KEY, env.NOVA_SIGNING_KEY),
    keyPair: keyPairOf(env),
    vault: keyOf(env.NOVA_VAULT_KMS_KEY, env.NOVA_VAULT_KEY),
    keyVariables: variables,
    createsPerSecond: env.NOVA_E2B_CREATES_PER_SECOND,
    fetch: outgoing.fetch,
  });
  const ports: FunctionPorts = {
    ...aws,
    outgoing,
    sandboxes: nodeParts().sandboxes({ pace }),
    pipeline: nodeParts().pipeline(variables, aws.generations),
    ...createRunHooks(() => ports, runHookStores),
    hostNames,
    warmPool: engine.createWarmPool(),
    tailCache: engine.createTailCache(),
    inFlight: engine.createInFlight(),
    endings: engine.createEndings(),
    admissions: { held: false, atOnce: env.NOVA_E2B_CONCURRENT },
    events: logged(aws.bus),
    meter: (what, numbers) => logger.info(what, { numbers }),
    links: linksTo(variables),
    clock,
    timer,
  };
  return ports;
}

function keyOf(kmsKeyId: string | undefined, keyHex = "") {
  return kmsKeyId === undefined ? { keyHex } : { kmsKeyId };
}

function keyPairOf(env: Environment) {
  const { NOVA_PROOF_KMS_KEYS: kmsKeyIds, NOVA_SIGNING_KEY: keyHex = "", NOVA_PROOF_KEY_FILE: file } = env;
  return kmsKeyIds === undefined ? { keyHex, file } : { kmsKeyIds };
}

/** Returns a bus that also logs each event of a run as a structured line, which a metric filter counts. */
function logged(bus: engine.EventBus): engine.EventBus {
  return {
    async publish(type, detail) {
      logger.info(type, { detail });
      await bus.publish(type, detail);
    },
  };
}

/**
 * Builds the links in messages. It reads the addresses of the API and of the page again for each link. On a laptop, the
 * API and the page may start later than the functions.
 */
function linksTo(variables: NodeJS.ProcessEnv): engine.Links {
  const toPage = (id: string) => {
    const { NOVA_LINK_BASE: base = "" } = variables;
    return base === "" ? undefined : `${base.replace(/\/$/, "")}/${id}`;
  };
  const toApi = (path: string) => {
    const api = variables.NOVA_API_URL;
    return api === undefined ? undefined : `${api.replace(/\/$/, "")}${path}`;
  };
  return {
    toApi,
    toTask: (task) => toPage(task.id) ?? engine.approveCommand(task),
    toVote(task, token) {
      const page = toPage(task.id);
      return page === undefined ? undefined : `${page}#vote=${token}`;
    },
    toResume(id, token) {
      const address = toApi(`/tasks/${id}?token=${token}`);
      if (address !== undefined) return address;
      const advice = "set NOVA_API_URL where NOVA is deployed, to https and the API's host";
      throw new engine.NovaError(
        "NodeFailed",
        `tasks[...] has no url, because the address of the API is unknown - ${advice}`,
      );
    },
  };
}

let ports: FunctionPorts | undefined;

/** Returns the ports of this process. The first invocation creates them. */
export function warmPorts(): FunctionPorts {
  ports ??= createPorts(process.env);
  return ports;
}

/** Discards the ports, so that the next invocation creates them from the changed variables. */
export function resetPorts(): void {
  ports = undefined;
}

/**
 * Creates the hooks through which the service follows runs. The service is loaded at the first use, because most
 * functions do not need it.
 */
function createRunHooks(
  ports: () => engine.Ports & Pick<RunHookStores, "admissions">,
  stores: AwsPorts["runHookStores"],
): { onExecutionEnded: engine.OnExecutionEnded; budgets: engine.Budgets } {
  // Loads the service when the first run ends, or when a node first asks a model. So other nodes do not wait for this
  // load.
  const made = lazyValue(async () => {
    const { createBudgets, createOnExecutionEnded } = await import("@nova/service/run-hooks");
    const all = { ...ports(), ...(await stores()) };
    const warn = (message: string, facts: Record<string, unknown>) => logger.warn(message, facts);
    return { onExecutionEnded: createOnExecutionEnded(all, warn), budgets: createBudgets(all) };
  });
  return {
    onExecutionEnded: async (execution) => (await made()).onExecutionEnded(execution),
    budgets: {
      ofMonth: async (client) => (await made()).budgets.ofMonth(client),
      note: async (client, node, usd) => (await made()).budgets.note(client, node, usd),
    },
  };
}
