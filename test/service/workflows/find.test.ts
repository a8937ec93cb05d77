import {
  callsOf,
  findWorkflow,
  listVersions,
  listWorkflows,
  NotFound,
  type Principal,
  pageFrom,
  redactWorkflow,
  sourceOf,
} from "@nova/service";
import { parseWorkflow, type Trigger, templateName, type Workflow } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { action, flow } from "../../support/engine/flows.ts";
import { World } from "../../support/engine/world.ts";
import { MemoryPublications, MemoryWorkflowStates } from "../support/stores.ts";

let world: World;
let states: MemoryWorkflowStates;
let publications: MemoryPublications;
const ports = () => ({ workflows: world.workflows.port(), workflowStates: states, publications });

function publish(id: string, versions: number): void {
  const workflow = flow(
    id,
    [action("a")],
    [
      ["start", "a"],
      ["a", "end"],
    ],
  );
  for (let version = 1; version <= versions; version++) world.publish(workflow, version);
}

beforeEach(() => {
  world = new World();
  states = new MemoryWorkflowStates();
  publications = new MemoryPublications();
});

describe("a workflow", () => {
  beforeEach(() => publish("invoice", 3));

  it("is found in its latest version, which is active by default", async () => {
    const { version, latest, active } = await findWorkflow(ports(), "invoice");
    expect([version.version, latest, active]).toEqual([3, 3, 3]);
  });

  it("is found with its active version, even if a later version exists", async () => {
    await states.set("invoice", { active: 1 });
    expect(await findWorkflow(ports(), "invoice", 2)).toMatchObject({ version: { version: 2 }, latest: 3, active: 1 });
  });

  it.each([
    ["unknown", undefined],
    ["invoice", 4],
  ])("with the id %s and the version %s is not found", async (id, version) => {
    await expect(findWorkflow(ports(), id, version)).rejects.toThrow(NotFound);
  });

  it("is not found after its deletion, in any version", async () => {
    await states.set("invoice", { deleted: 3 });
    for (const version of [undefined, 1, 3]) {
      await expect(findWorkflow(ports(), "invoice", version)).rejects.toThrow(/no workflow "invoice"/);
    }
  });

  it("has only its new versions if it was deleted and published a second time, and the latest version is active", async () => {
    await states.set("invoice", { deleted: 2, active: 1 });
    expect(await findWorkflow(ports(), "invoice")).toMatchObject({ latest: 3, active: 3 });
    await expect(findWorkflow(ports(), "invoice", 2)).rejects.toThrow(/no version 2/);
    expect((await listVersions(ports(), "invoice", { limit: 9 })).items.map(({ version }) => version)).toEqual([3]);
  });
});

describe("the versions of a workflow", () => {
  it("are listed newest first, page by page", async () => {
    publish("invoice", 5);
    const page = async (cursor?: string) => {
      const found = await listVersions(ports(), "invoice", { limit: 2, ...(cursor !== undefined && { cursor }) });
      return [found.items.map(({ version }) => version), found.cursor];
    };
    expect(await page()).toEqual([[5, 4], "4"]);
    expect(await page("4")).toEqual([[3, 2], "2"]);
    expect(await page("2")).toEqual([[1], undefined]);
    expect(await page("1")).toEqual([[], undefined]);
    expect(await page("9999999999")).toEqual([[5, 4], "4"]);
  });
});

describe("the list of workflows", () => {
  const ids = async (query: { limit: number; cursor?: string }) => {
    const { items, cursor } = await listWorkflows(ports(), query);
    return [items.map(({ version }) => version.workflowId), cursor];
  };

  it("is sorted by id, comes in pages, and shows the latest version of each workflow", async () => {
    for (const id of ["c", "a", "b"]) publish(id, 2);
    expect(await ids({ limit: 2 })).toEqual([["a", "b"], "b"]);
    expect(await ids({ limit: 2, cursor: "b" })).toEqual([["c"], undefined]);
  });

  it("comes in full pages even if most workflows were deleted", async () => {
    for (let n = 0; n < 20; n++) publish(`flow-${n + 10}`, 1);
    for (let n = 0; n < 17; n++) await states.set(`flow-${n + 10}`, { deleted: 1 });
    expect(await ids({ limit: 2 })).toEqual([["flow-27", "flow-28"], "flow-28"]);
    expect(await ids({ limit: 3 })).toEqual([["flow-27", "flow-28", "flow-29"], undefined]);
  });
});

describe("the body of a publish request", () => {
  it("is accepted as a definition, and the text of the definition stays unchanged", () => {
    const text = '{\n "nodes": [],\n "edges": [] }';
    expect(sourceOf(text)).toEqual({ text, fileName: "workflow.json", files: {}, isSent: true });
    expect(sourceOf(text, "invoice").folder).toBe("invoice");
  });

  it("is accepted as an object that holds a definition and the files that the definition names", () => {
    const definition = '{ "nodes": [ ] }';
    const source = sourceOf(`{"files": {"work.py": "pass"}, "definition": ${definition}}`);
    expect(source).toMatchObject({ text: definition, files: { "work.py": "pass" } });
    expect(sourceOf(`{"definition": ${definition}}`).files).toEqual({});
  });

  it.each(['{"nodes": [], "definition": {}}', '{"definition": "of an invoice"}'])(
    "is read as a definition if it is not an object that holds a definition and files: %s",
    (text) => {
      expect(sourceOf(text).text).toBe(text);
    },
  );

  it("causes findings whose line numbers count from the start of the definition in the body", () => {
    const { findings } = parseWorkflow(sourceOf('{"definition": {\n "nodes": [],\n "edges": [],\n "timeot": 5 }}'));
    expect(findings.map(({ line }) => line)).toContain(4);
  });
});

describe("the workflows that a workflow calls", () => {
  it("are listed with the nodes that call them", () => {
    const nodes = {
      one: { type: "workflow", workflow: "billing" },
      each: { type: "map", items: "mails", workflow: "reading", version: 2 },
      work: "pass",
    };
    const source = { text: JSON.stringify(inARow("caller", nodes)), fileName: "workflow.json", files: {} };
    const { workflow, findings } = parseWorkflow(source);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(callsOf(workflow as Workflow).map(({ workflow: id, version, by }) => [id, version, by])).toEqual([
      ["billing", undefined, "caller"],
      ["reading", 2, "caller"],
    ]);
  });
});

describe("a sandbox template", () => {
  it("has the same name for the same Python requirements in any order", () => {
    expect(templateName(["b", " a "])).toBe(templateName(["a", "b"]));
    expect(templateName(["a"])).not.toBe(templateName(["a==1"]));
    expect(templateName(["a"])).toMatch(/^nova-[0-9a-f]{12}$/);
  });
});

describe("the first page of a list", () => {
  it.each([
    [["a", "b", "c"], 2, { items: ["a", "b"], cursor: "b" }],
    [["a", "b"], 2, { items: ["a", "b"] }],
    [[], 2, { items: [] }],
  ])("with the items %j and at most %i items per page is %j", (found, limit, page) => {
    expect(pageFrom<string>(found, limit, (text) => text)).toEqual(page);
  });
});

const hook = (id: string, client?: string): Trigger => ({
  id,
  type: "webhook",
  ...(client !== undefined && { client }),
});
const orders = {
  id: "orders",
  onFailure: { mail: ["ops@example.com"] },
  triggers: [hook("shop", "acme"), hook("open", "globex"), hook("ours")],
} as unknown as Workflow;
const by = (client: string | null): Principal => ({ id: "key_1", role: "viewer", client, name: "" });

it("a definition is shown completely to an API key for all clients", () => {
  expect(redactWorkflow(by(null), orders)).toBe(orders);
});

it.each([
  ["acme", ["shop"]],
  ["globex", ["open"]],
])(
  "the API key of %s gets a definition without the triggers of other clients and without recipients of failure reports",
  (client, ids) => {
    const { triggers = [], ...rest } = redactWorkflow(by(client), orders);
    expect([triggers.map(({ id }) => id), rest]).toEqual([ids, { id: "orders" }]);
  },
);

it("a definition is shown without triggers if no trigger belongs to the client of the API key", () => {
  expect(redactWorkflow(by("initech"), orders)).toEqual({ id: "orders" });
});
