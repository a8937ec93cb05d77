import { type Ports, publishWorkflow } from "@nova/engine";
import { expect, it } from "vitest";
import { action, flow } from "../support/engine/flows.ts";
import { atOnce } from "../support/engine/scheduler.ts";
import { World } from "../support/engine/world.ts";

const workflow = flow(
  "one",
  [action("a")],
  [
    ["start", "a"],
    ["a", "end"],
  ],
);
const changed = flow(
  "one",
  [action("a", { effects: true })],
  [
    ["start", "a"],
    ["a", "end"],
  ],
);

function publisher() {
  const world = new World();
  const published: string[] = [];
  const ports: Ports = { ...world.ports(atOnce) };
  ports.stateMachines = {
    ...ports.stateMachines,
    publish: async (name, definition, description) => `arn:${published.push(`${name} ${definition} ${description}`)}`,
  };
  const publish = (what = workflow, template = "t") =>
    publishWorkflow(ports, { workflow: what, stateMachine: "{}", template });
  return { world, ports, published, publish };
}

it("a workflow definition is published as one version, however often a caller sends it", async () => {
  const { published, publish } = publisher();
  const first = await publish();
  expect(first).toMatchObject({ workflowId: "one", version: 1, stateMachineArn: "arn:1" });
  expect(await publish()).toEqual(first);
  expect(published).toEqual(["nova-one {} version 1"]);
});

it("a published version stores how its state machine counts history events", async () => {
  const { ports } = publisher();
  const history = { most: 20_000, begun: 6, settled: 7, entries: {} };
  const request = { workflow, stateMachine: "{}", template: "t" };
  expect(await publishWorkflow(ports, { ...request, history })).toMatchObject({ history });
  const other = publisher();
  expect(await publishWorkflow(other.ports, { ...request, history: undefined })).not.toHaveProperty("history");
});

it.each([
  ["definition", changed, "t"],
  ["template", workflow, "another"],
])("a workflow gets a new version when its %s changes", async (_what, next, template) => {
  const { publish } = publisher();
  await publish();
  expect(await publish(next, template)).toMatchObject({ version: 2, stateMachineArn: "arn:2" });
});

it("a workflow gets the next version number if another process publishes a version at the same time", async () => {
  const { ports, publish } = publisher();
  const { create } = ports.workflows;
  let isFirst = true;
  ports.workflows.create = async (version) => {
    if (isFirst) {
      isFirst = false;
      await publish(changed);
    }
    return create(version);
  };
  expect(await publish()).toMatchObject({ version: 2 });
});
