import type { ServicePorts } from "@nova/service";
import { prepareTemplate } from "./templates.ts";

/** What the ports of this process were made for. */
let entered = "";

/**
 * The ports of the service in this process, as its functions have them in `environment`: those of a cloud before it are
 * given up. Templates are made when they are asked for.
 */
export async function servicePorts(dataDir: string, environment: Record<string, string>): Promise<ServicePorts> {
  const { coolServicePorts, provideTemplates, warmServicePorts } = await import("@nova/functions");
  const entering = JSON.stringify(environment);
  if (entering !== entered) coolServicePorts();
  entered = entering;
  provideTemplates({ of: (requirements) => prepareTemplate(dataDir, requirements) });
  return warmServicePorts();
}
