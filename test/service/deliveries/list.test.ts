import { type Delivery, listDeliveries, type Role } from "@nova/service";
import { beforeEach, expect, it } from "vitest";
import { TriggerWorld } from "../support/trigger-world.ts";

let world: TriggerWorld;
const by = (client: string | null) => ({ id: "key_1", role: "viewer" as Role, client, name: "" });

/** Workflow, client and status of each, oldest first; the number is its id. */
const rows: [string | null, string | null, Delivery["status"]][] = [
  ["invoice", "acme", "started"],
  ["invoice", "globex", "refused"],
  ["report", "acme", "refused"],
  [null, null, "refused"],
];

beforeEach(async () => {
  world = new TriggerWorld();
  for (const id of ["invoice", "report"]) await world.publish(id, []);
  for (const [at, [workflow, client, status]] of rows.entries()) {
    await world.deliveries.begin({
      ...{ format: 1, key: `${at}`, id: `dlv_${at}`, type: "mail", workflow, trigger: null, client, status },
      ...{ at: new Date(at).toISOString(), from: "", about: "", dedupe: `${at}` },
      ...{ execution: null, reason: null, expiresAt: 0 },
    });
  }
});

const ids = async (client: string | null, query: object = {}) => {
  const { items, cursor } = await listDeliveries(world.ports(), by(client), { limit: 10, ...query });
  return [items.map(({ id }) => Number(id.slice("dlv_".length))), cursor];
};

it.each<[string, string | null, object, number[]]>([
  ["all, newest first", null, {}, [3, 2, 1, 0]],
  ["those of a workflow", null, { workflow: "invoice" }, [1, 0]],
  ["those of a client", null, { client: "acme" }, [2, 0]],
  ["those of a status", null, { status: "refused" }, [3, 2, 1]],
  ["those of all three", null, { workflow: "invoice", client: "globex", status: "refused" }, [1]],
  ["its own alone with the key of a client", "acme", {}, [2, 0]],
  ["its own of a workflow", "globex", { workflow: "invoice" }, [1]],
  ["none of another client's", "acme", { client: "globex" }, []],
])("lists %s", async (_what, client, query, expected) => {
  expect(await ids(client, query)).toEqual([expected, undefined]);
});

it("lists page after page", async () => {
  expect(await ids(null, { limit: 2 })).toEqual([[3, 2], "dlv_2"]);
  expect(await ids(null, { limit: 2, cursor: "dlv_2" })).toEqual([[1, 0], undefined]);
});
