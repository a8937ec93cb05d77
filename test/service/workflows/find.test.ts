import { findWorkflow, listVersions, listWorkflows, NotFound } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { action, flow } from "../../support/engine/flows.ts";
import { World } from "../../support/engine/world.ts";
import { MemoryPublications } from "../support/publications.ts";
import { MemoryWorkflowStates } from "../support/workflow-states.ts";

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

  it("may have an earlier active version", async () => {
    await states.set("invoice", { active: 1 });
    expect(await findWorkflow(ports(), "invoice", 2)).toMatchObject({ version: { version: 2 }, latest: 3, active: 1 });
  });

  it.each([
    ["unknown", undefined],
    ["invoice", 4],
  ])("%s with version %s is not found", async (id, version) => {
    await expect(findWorkflow(ports(), id, version)).rejects.toThrow(NotFound);
  });

  it("is not found after its deletion, in any version", async () => {
    await states.set("invoice", { deleted: 3 });
    for (const version of [undefined, 1, 3]) {
      await expect(findWorkflow(ports(), "invoice", version)).rejects.toThrow(/no workflow "invoice"/);
    }
  });

  it("that was published again has only its new versions, and no deleted one is active", async () => {
    await states.set("invoice", { deleted: 2, active: 1 });
    expect(await findWorkflow(ports(), "invoice")).toMatchObject({ latest: 3, active: 3 });
    await expect(findWorkflow(ports(), "invoice", 2)).rejects.toThrow(/no version 2/);
    expect((await listVersions(ports(), "invoice", { limit: 9 })).items.map(({ version }) => version)).toEqual([3]);
  });
});

describe("versions", () => {
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

  it("is sorted by id, page by page, each with its latest version", async () => {
    for (const id of ["c", "a", "b"]) publish(id, 2);
    expect(await ids({ limit: 2 })).toEqual([["a", "b"], "b"]);
    expect(await ids({ limit: 2, cursor: "b" })).toEqual([["c"], undefined]);
  });

  it("fills its pages even if most workflows were deleted", async () => {
    for (let n = 0; n < 20; n++) publish(`flow-${n + 10}`, 1);
    for (let n = 0; n < 17; n++) await states.set(`flow-${n + 10}`, { deleted: 1 });
    expect(await ids({ limit: 2 })).toEqual([["flow-27", "flow-28"], "flow-28"]);
    expect(await ids({ limit: 3 })).toEqual([["flow-27", "flow-28", "flow-29"], undefined]);
  });
});
