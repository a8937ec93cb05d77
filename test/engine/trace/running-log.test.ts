import { NovaError, type RunningLog, runningLog } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { entryName } from "../../../packages/engine/src/chain/ids.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story } from "../../support/engine/story.ts";

const inputs = { type: "object", properties: { pin: { type: "string", secret: true } } };
const place = { scope: "", seq: 1 };

/** Starts a run whose node "a" runs code in a sandbox. */
async function running() {
  const workflow = flow("runs", [action("a")], lines("start > a > end"), { inputs });
  const story = await new Story(workflow).start('{"pin":"47-11-pin"}');
  const delivery = story.deliver("a", 0);
  await story.until(delivery, "wait");
  const ports = story.world.ports(atOnce);
  const prints = (text: string, more: Partial<RunningLog> = {}) => {
    const tail = Buffer.from(text);
    const log = { step: 0, attempt: 1, size: tail.length, tail, ...more };
    story.world.sandboxes.logs.set(entryName({ execution: story.id, ...place }), log);
  };
  const read = (after?: Parameters<typeof runningLog>[3]) => runningLog(ports, story.id, place, after);
  return { story, delivery, prints, read };
}

describe("the output of running code", () => {
  it("is returned from the position up to which the reader has it, with the secrets of the node masked", async () => {
    const { prints, read } = await running();
    expect(await read()).toBeNull();
    prints("one\nkey 47-11");
    const first = await read();
    expect(first).toEqual({ text: "one\nkey ", leftOut: 0, next: { step: 0, attempt: 1, bytes: 8 } });
    prints("one\nkey 47-11-pin\ntwo\n");
    expect(await read(first?.next)).toEqual({
      text: "***\ntwo\n",
      leftOut: 0,
      next: { step: 0, attempt: 1, bytes: 22 },
    });
  });

  it("comes with the number of dropped bytes, and starts again with the next attempt", async () => {
    const { prints, read } = await running();
    prints("tail\n", { size: 1005 });
    const at = { step: 0, attempt: 1, bytes: 100 };
    expect(await read(at)).toEqual({ text: "tail\n", leftOut: 900, next: { ...at, bytes: 1005 } });
    prints("again\n", { attempt: 2 });
    expect(await read(at)).toEqual({ text: "again\n", leftOut: 0, next: { step: 0, attempt: 2, bytes: 6 } });
  });

  it("is an empty text while the sandbox cannot be reached", async () => {
    const { story } = await running();
    const ports = story.world.ports(atOnce);
    const unreachable = async () => Promise.reject(new NovaError("SandboxUnavailable", "no answer"));
    const sandboxes = { ...ports.sandboxes, runningLog: unreachable };
    expect(await runningLog({ ...ports, sandboxes }, story.id, place)).toBeNull();
  });

  it("is null after the node has ended, and for unknown entries and branches", async () => {
    const { story, delivery, prints, read } = await running();
    prints("one\n");
    const ports = story.world.ports(atOnce);
    expect(await runningLog(ports, story.id, { scope: "", seq: 2 })).toBeNull();
    expect(await runningLog(ports, story.id, { scope: "no scope", seq: 1 })).toBeNull();
    await story.finish(delivery);
    expect(await read()).toBeNull();
  });
});
