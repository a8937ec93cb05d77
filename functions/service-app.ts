import { createServiceStores } from "@nova/aws";
import type { ServicePorts } from "@nova/service";
import { templateName } from "@nova/workflow";
import { createPorts } from "./app.ts";
import { ServiceEnvironment } from "./service-environment.ts";

/** Every port of the service, with its adapter. */
export function createServicePorts(variables: NodeJS.ProcessEnv): ServicePorts {
  const env = ServiceEnvironment.parse(variables);
  const functions = env.NOVA_FUNCTION_ARN === undefined ? undefined : functionsAt(env.NOVA_FUNCTION_ARN);
  return {
    ...createPorts(variables),
    ...createServiceStores({ table: env.NOVA_TABLE }),
    templates: {
      of: async (requirements) => (requirements.length === 0 ? env.E2B_TEMPLATE_ID : templateName(requirements)),
    },
    ...(functions && { functions }),
  };
}

function functionsAt(arn: string): NonNullable<ServicePorts["functions"]> {
  const at = (name: string) => arn.replace("{name}", name);
  return {
    runNode: at("nova-run-node"),
    settleNode: at("nova-settle-node"),
    closeExecution: at("nova-close-execution"),
    requestApproval: at("nova-request-approval"),
  };
}

let ports: ServicePorts | undefined;

/** Made at the first invocation of a process and kept while it is warm. */
export function warmServicePorts(): ServicePorts {
  ports ??= createServicePorts(process.env);
  return ports;
}
