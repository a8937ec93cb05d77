import { createServiceStores } from "@nova/aws";
import type { Ports } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import { prepareTemplate } from "./templates.ts";

/** The ports of the service on this machine: templates are made when a workflow is published. */
export function serviceOf(ports: Ports, dataDir: string): ServicePorts {
  return {
    ...ports,
    ...createServiceStores({}),
    templates: { of: (requirements) => prepareTemplate(dataDir, requirements) },
  };
}
