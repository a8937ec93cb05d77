import { deliverEvent, requestApproval } from "@nova/engine";
import type { WaitNode } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { flow } from "../../../support/engine/flows.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";
import { Story } from "../../../support/engine/story.ts";

const pattern = { source: ["shop"] };
const waitFor = (id: string): WaitNode => ({
  id,
  type: "wait",
  for: { kind: "event", pattern, timeoutSeconds: 3600, into: id },
});
const event = (id: string) => JSON.stringify({ id, source: "shop", detail: {} });

/** start -> first -> second -> end: both wait for the same events. */
class TwoWaits extends Story {
  readonly ports = this.world.ports(atOnce);

  constructor() {
    super(
      flow(
        "two-waits",
        [waitFor("first"), waitFor("second")],
        [
          ["start", "first"],
          ["first", "second"],
          ["second", "end"],
        ],
      ),
    );
  }

  async wait(node: string, seq: number): Promise<void> {
    const { workflowId, version } = this.world.record(this.id);
    const execution = { id: this.id, workflowId, version };
    await requestApproval(this.ports, { execution, scope: "", seq, node, token: `token-${node}` });
  }
}

let story: TwoWaits;

beforeEach(async () => {
  story = new TwoWaits();
  await story.start("{}");
  await story.wait("first", 0);
});

describe("an event that EventBridge delivers twice", () => {
  it("wakes only the first of two waits, and another event wakes the second", async () => {
    expect(await deliverEvent(story.ports, event("event-1"))).toMatchObject([{ node: "first" }]);
    await story.wait("second", 1);
    expect(await deliverEvent(story.ports, event("event-1"))).toEqual([]);
    expect(await deliverEvent(story.ports, event("event-2"))).toMatchObject([{ node: "second" }]);
  });
});
