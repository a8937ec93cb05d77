import type { ServicePorts } from "@nova/service";
import { prepareTemplate } from "./templates.ts";

/** The ports of the service in this process, as its functions have them: templates are made when they are asked for. */
export async function servicePorts(dataDir: string): Promise<ServicePorts> {
  const { provideTemplates, warmServicePorts } = await import("@nova/functions");
  provideTemplates({ of: (requirements) => prepareTemplate(dataDir, requirements) });
  return warmServicePorts();
}
