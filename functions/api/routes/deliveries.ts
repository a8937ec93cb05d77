import { listDeliveries } from "@nova/service";
import { route } from "../http/route.ts";
import { DeliveryItem, DeliveryQuery, deliveryItem } from "../schemas/delivery.ts";
import { listAnswer, listOf, pageQuery } from "../schemas/list.ts";

export const list = route({
  method: "GET",
  path: "/deliveries",
  summary: "What came in for triggers, newest first: mails, requests, times, events; started, or refused and why",
  role: "viewer",
  query: DeliveryQuery,
  answers: { 200: { description: "a page", schema: listOf(DeliveryItem) } },
  async handle(ports, { by, query }) {
    const { workflow, client, status, ...page } = query;
    const wanted = {
      ...(workflow !== undefined && { workflow }),
      ...(client !== undefined && { client }),
      ...(status !== undefined && { status }),
    };
    const found = await listDeliveries(ports, by, { ...pageQuery(page, /^dlv_[0-9A-Z]{26}$/), ...wanted });
    return listAnswer(found, deliveryItem);
  },
});
