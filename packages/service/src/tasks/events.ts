import { randomUUID } from "node:crypto";
import { deliverEvent, RawJson, renderJson, type WaitingTask } from "@nova/engine";
import { demandAllClients } from "../access/authenticate.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { BusEvent } from "../ports/triggers.ts";

/** Builds the EventBridge envelope of an event. */
function envelopeOf({ source, type, detail }: BusEvent, at: Date): { id: string; text: string } {
  const id = randomUUID();
  const around = { version: "0", id, "detail-type": type, source, account: "000000000000", time: at.toISOString() };
  return { id, text: renderJson({ ...around, resources: [], detail: new RawJson(detail) }) };
}

/** Delivers an event directly to waiting runs of all clients, without a bus. Throws `Forbidden`. */
export async function emit(
  ports: ServicePorts,
  by: Principal,
  event: BusEvent,
): Promise<{ id: string; tasks: WaitingTask[] }> {
  demandAllClients(by);
  const { id, text } = envelopeOf(event, new Date(ports.clock.now()));
  return { id, tasks: await deliverEvent(ports, text) };
}

/** Sources that belong to NOVA and AWS. */
const reserved = /^(nova|aws\..*)$/;

/** Puts an event on the bus for triggers and waiting runs of all clients; returns its id. Throws `Forbidden`, `Refused`. */
export async function putEvent({ bus }: Pick<ServicePorts, "bus">, by: Principal, event: BusEvent): Promise<string> {
  demandAllClients(by);
  if (reserved.test(event.source)) {
    throw new Refused(`events of "${event.source}" are not for others to put - choose a source such as shop.orders`);
  }
  return bus.put(event);
}
