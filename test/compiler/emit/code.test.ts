import { toStateMachine } from "@nova/compiler";
import { expect, it } from "vitest";
import { aslErrors } from "../support/asl-validator.ts";
import { stateOf, taskOf } from "../support/states.ts";
import { action, body, decision, end, map, start, workflow } from "../support/workflows.ts";

const long = { timeoutSeconds: 3_600 };
const item = map("m", body([action("i", long)], []));
const machine = toStateMachine(
  workflow(
    [start(), action("a", long), action("short", { timeoutSeconds: 840 }), decision("d", long), item, end()],
    ["start -> a", "a -> short", "short -> d", "d -> m : true", "d -> end : false", "m -> end"],
  ),
);

it("the task of a long node is entered again after each pause while its code runs", async () => {
  expect(taskOf(machine, "a")).toMatchObject({ Next: "a.running", TimeoutSeconds: 900 });
  expect(stateOf(machine, "a.running", "Choice")).toEqual({
    Type: "Choice",
    Choices: [{ Variable: "$.running", IsPresent: true, Next: "a.pause" }],
    Default: "short",
  });
  expect(stateOf(machine, "a.pause", "Wait")).toEqual({ Type: "Wait", SecondsPath: "$.pause", Next: "a" });
  expect(await aslErrors(machine)).toBe("");
});

it("the task of a long decision precedes its Choice, and a long node at an item's end ends the item", () => {
  expect(stateOf(machine, "d.running", "Choice").Default).toBe("d.branch");
  expect(taskOf(machine, "i").Next).toBe("i.running");
  expect(stateOf(machine, "i.running", "Choice").Default).toBe("m.item.done");
});

it("a node of at most 840 seconds is one task", () => {
  expect(taskOf(machine, "short").Next).toBe("d");
});
