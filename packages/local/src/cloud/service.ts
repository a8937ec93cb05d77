import { join } from "node:path";
import type { ServicePorts } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import { addMailErasure } from "./erase-mails.ts";
import { PythonMissing } from "./python-packages.ts";

/** Ports whose eraser already removes mails, too. */
const erasesMails = new WeakSet<ServicePorts>();

/** The environment that the ports of this process were made for. */
let entered = "";

/** The service's ports in this process, made for `environment`. Ports of an earlier cloud are dropped. */
export async function servicePorts(
  dataDir: string,
  environment: Record<string, string>,
  templateFor: (workflow: Workflow) => Promise<string>,
): Promise<ServicePorts> {
  const { resetServicePorts, provideTemplates, warmServicePorts } = await import("@nova/functions");
  const entering = JSON.stringify(environment);
  if (entering !== entered) resetServicePorts();
  entered = entering;
  provideTemplates({ of: (workflow) => refuseUninstallable(templateFor(workflow)) });
  const ports = warmServicePorts();
  if (!erasesMails.has(ports)) ports.eraser = addMailErasure(ports.eraser, join(dataDir, "mail"));
  erasesMails.add(ports);
  return ports;
}

/** Reports a requirement that cannot be installed as an error of the published definition. */
async function refuseUninstallable(making: Promise<string>): Promise<string> {
  try {
    return await making;
  } catch (error) {
    if (!(error instanceof PythonMissing)) throw error;
    const { Refused } = await import("@nova/service");
    throw new Refused(error.message, [], { cause: error });
  }
}
