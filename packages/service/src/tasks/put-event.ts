import { demandAllClients } from "../access/authenticate.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { BusEvent } from "../ports/bus.ts";
import type { ServicePorts } from "../ports/index.ts";

/** Sources whose events mean something to NOVA or to AWS. */
const reserved = /^(nova|aws\..*)$/;

/**
 * Puts an event on NOVA's bus, which hands it to triggers and to the runs that wait for one like it; answers its id. They
 * may be of every client, so it needs a key for all. Throws `Forbidden`, `Refused`.
 */
export async function putEvent({ bus }: Pick<ServicePorts, "bus">, by: Principal, event: BusEvent): Promise<string> {
  demandAllClients(by);
  if (reserved.test(event.source)) {
    throw new Refused(`events of "${event.source}" are not for others to put - choose a source such as shop.orders`);
  }
  return bus.put(event);
}
