import { type Delivery, listDeliveries, type Role } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { TriggerWorld } from "../support/trigger-world.ts";

let world: TriggerWorld;
const by = (client: string | null) => ({ id: "key_1", role: "viewer" as Role, client, name: "" });

/** Workflow, client and status of each delivery, oldest first. The index is the id. */
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
      format: 1,
      key: `${at}`,
      id: `dlv_${at}`,
      type: "mail",
      workflow,
      trigger: null,
      client,
      status,
      at: new Date(at).toISOString(),
      from: "",
      about: "",
      dedupe: `${at}`,
      execution: null,
      reason: null,
      expiresAt: 0,
    });
  }
});

const ids = async (client: string | null, query: object = {}) => {
  const { items, cursor } = await listDeliveries(world.ports(), by(client), { limit: 10, ...query });
  return [items.map(({ id }) => Number(id.slice("dlv_".length))), cursor];
};

describe("a list of deliveries", () => {
  it.each<[string, string | null, object, number[]]>([
    ["all deliveries, newest first", null, {}, [3, 2, 1, 0]],
    ["the deliveries of a workflow", null, { workflow: "invoice" }, [1, 0]],
    ["the deliveries of a client", null, { client: "acme" }, [2, 0]],
    ["the deliveries with a status", null, { status: "refused" }, [3, 2, 1]],
    [
      "the deliveries that match all three filters",
      null,
      { workflow: "invoice", client: "globex", status: "refused" },
      [1],
    ],
    ["only its own deliveries to the key of a client", "acme", {}, [2, 0]],
    ["its own deliveries of a workflow to the key of a client", "globex", { workflow: "invoice" }, [1]],
    ["no deliveries of another client", "acme", { client: "globex" }, []],
  ])("shows %s", async (_what, client, query, expected) => {
    expect(await ids(client, query)).toEqual([expected, undefined]);
  });

  it("comes in pages", async () => {
    expect(await ids(null, { limit: 2 })).toEqual([[3, 2], "dlv_2"]);
    expect(await ids(null, { limit: 2, cursor: "dlv_2" })).toEqual([[1, 0], undefined]);
  });
});
