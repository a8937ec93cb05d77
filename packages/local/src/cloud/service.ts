import type { ServicePorts } from "@nova/service";
import { PythonMissing } from "./python-packages.ts";
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
  provideTemplates({ of: (requirements) => templateOrRefused(dataDir, requirements) });
  return warmServicePorts();
}

/** What cannot be installed is, to whoever publishes, a definition that has to be corrected. */
async function templateOrRefused(dataDir: string, requirements: readonly string[]): Promise<string> {
  try {
    return await prepareTemplate(dataDir, requirements);
  } catch (error) {
    if (!(error instanceof PythonMissing)) throw error;
    const { Refused } = await import("@nova/service");
    throw new Refused(error.message, [], { cause: error });
  }
}
