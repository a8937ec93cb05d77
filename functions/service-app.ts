import { createEventRules, createMailer, createSchedules, createServiceStores } from "@nova/aws";
import type { Clock } from "@nova/engine";
import type { Bus, PublishQueue, ServicePorts, ServiceStores, Templates } from "@nova/service";
import {
  createPoster,
  createRates,
  createTimeStamper,
  dmarcPolicies,
  imapMailboxes,
  trustIssuer,
} from "@nova/service/adapters";
import { templateName } from "@nova/workflow";
import { createPorts, type FunctionPorts, resetPorts, warmPorts } from "./app.ts";
import { ServiceEnvironment } from "./environment.ts";

/** Creates every port of the service. If the caller passes no ports of the engine, creates these, too. */
export function createServicePorts(variables: NodeJS.ProcessEnv, ports = createPorts(variables)): ServicePorts {
  const env = ServiceEnvironment.parse(variables);
  const arnOf = (name: string) => env.NOVA_FUNCTION_ARN.replace("{name}", name);
  const triggers = {
    busName: env.NOVA_EVENT_BUS,
    scheduleGroup: env.NOVA_SCHEDULE_GROUP,
    scheduleRoleArn: env.NOVA_SCHEDULE_ROLE_ARN,
    fireTriggerArn: arnOf("nova-fire-trigger"),
    pollMailboxArn: arnOf("nova-poll-mailbox"),
    deadLetterArn: env.NOVA_UNDELIVERED_ARN,
  };
  const stores = createServiceStores({ table: env.NOVA_TABLE });
  return {
    ...ports,
    ...stores,
    schedules: createSchedules(triggers),
    eventRules: createEventRules(triggers),
    ...apiAccess(env, { ...ports, ...stores }),
    mail: { domains: env.NOVA_MAIL_DOMAINS, dmarcPolicies: dmarcPolicies(), mailboxes: imapMailboxes(ports.outgoing) },
    ...(env.NOVA_MAIL_FROM && { mailer: createMailer({ from: env.NOVA_MAIL_FROM }) }),
    poster: createPoster(ports.outgoing),
    ...(env.NOVA_TSA_URL && { timeStamper: createTimeStamper(ports.outgoing, env.NOVA_TSA_URL) }),
    ...(env.NOVA_QUEUES && queuesOn(ports.bus)),
    ...compilerWhere(env.NOVA_MODELS),
    templates: templates ?? {
      of: async ({ requirements }) => (requirements.length === 0 ? env.E2B_TEMPLATE_ID : templateName(requirements)),
    },
    functions: {
      runNode: arnOf("nova-run-node"),
      settleNode: arnOf("nova-settle-node"),
      closeExecution: arnOf("nova-close-execution"),
      requestApproval: arnOf("nova-request-approval"),
    },
  };
}

/**
 * Creates the queues of publications and erasures. An enqueued item is an event of NOVA, and a rule of the bus delivers
 * it to a separate function.
 */
function queuesOn(bus: Bus & PublishQueue): Pick<ServicePorts, "publishQueue" | "erasureQueue"> {
  return {
    publishQueue: bus,
    erasureQueue: {
      async enqueue(erasure) {
        await bus.put({ source: "nova", type: "client.erasing", detail: JSON.stringify(erasure) });
      },
    },
  };
}

type Compiler = Pick<ServicePorts, "compile" | "findLookedUpKeys" | "checkCode">;

const compilesNothing = () => Promise.reject(new TypeError("this function compiles nothing"));
let compiler: Compiler = {
  compile: compilesNothing,
  findLookedUpKeys: compilesNothing,
  checkCode: compilesNothing,
};

/**
 * Provides the compiler. Only Lambdas that accept definitions call this function, before their first invocation. The
 * other Lambdas do not contain the compiler, because it is large.
 */
export function provideCompiler(provided: Compiler): void {
  compiler = provided;
}

/** Returns the compiler. If models are off, the compiler reports nodes that need a model. */
function compilerWhere(models: "on" | "off"): Compiler {
  const { compile } = compiler;
  if (models === "on") return compiler;
  return { ...compiler, compile: (source, ...options) => compile({ ...source, modelsOff: true }, ...options) };
}

let templates: Templates | undefined;

/** Provides sandbox templates that are built on demand. The caller must do this before the first invocation. */
export function provideTemplates(provided: Templates): void {
  templates = provided;
}

let ports: ServicePorts | undefined;

/** Returns the ports of this process. The first invocation creates them. */
export function warmServicePorts(): ServicePorts {
  ports ??= createServicePorts(process.env, warmPorts());
  return ports;
}

/**
 * Discards the engine's and the service's ports and the provided templates. The next invocation creates the ports
 * again.
 */
export function resetServicePorts(): void {
  resetPorts();
  ports = undefined;
  templates = undefined;
}

/** Creates the verifier of tokens and the limiter of requests, if the environment configures them. */
export function apiAccess(
  env: ServiceEnvironment,
  ports: { clock: Clock } & Pick<FunctionPorts, "outgoing"> & Pick<ServiceStores, "rateStore">,
): Pick<ServicePorts, "tokens" | "rates"> {
  const issuer = env.NOVA_JWT_ISSUER;
  return {
    ...(env.NOVA_RATE_PER_KEY !== undefined && { rates: createRates(ports, env.NOVA_RATE_PER_KEY) }),
    ...(issuer !== undefined && {
      tokens: trustIssuer(ports.outgoing, {
        issuer,
        audience: env.NOVA_JWT_AUDIENCE,
        jwksUrl: env.NOVA_JWT_JWKS_URL,
        roleClaim: env.NOVA_JWT_ROLE_CLAIM,
        clientClaim: env.NOVA_JWT_CLIENT_CLAIM,
        groupsClaim: env.NOVA_JWT_GROUPS_CLAIM,
        rolesClaim: env.NOVA_JWT_ROLES_CLAIM,
      }),
    }),
  };
}
