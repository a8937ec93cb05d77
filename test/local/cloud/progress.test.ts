import { describe, expect, it } from "vitest";
import { type NodeEvent, Progress } from "../../../packages/local/src/cloud/progress.ts";

const started: NodeEvent = { node: "a", state: "started" };
const succeeded: NodeEvent = { node: "a", state: "succeeded" };

describe("the progress of an execution", () => {
  it("reaches a listener that joins in the middle from the start", async () => {
    const progress = new Progress();
    progress.note("exec_1", started);
    const heard: NodeEvent[] = [];
    const end = progress.untilEnd("exec_1", (event) => heard.push(event));
    progress.note("exec_1", succeeded);
    progress.note("exec_2", started);
    progress.end("exec_1");
    progress.note("exec_1", started);
    await end;
    expect(heard).toEqual([started, succeeded]);
  });

  it("reaches a listener that comes after the end, and does not keep it", async () => {
    const progress = new Progress();
    progress.note("exec_1", succeeded);
    progress.end("exec_1");
    const heard: NodeEvent[] = [];
    await progress.untilEnd("exec_1", (event) => heard.push(event));
    expect(heard).toEqual([succeeded]);
  });

  it("is never forgotten while a listener waits for the end", async () => {
    const progress = new Progress();
    const end = progress.untilEnd("exec_first");
    for (let index = 0; index < 2_000; index++) progress.end(`exec_${index}`);
    progress.end("exec_first");
    await end;
  });

  it("is kept for its first listener, however many others wait", async () => {
    const progress = new Progress();
    for (let index = 0; index < 1_500; index++) {
      progress.end(`exec_over_${index}`);
      await progress.untilEnd(`exec_over_${index}`);
      progress.untilEnd(`exec_waits_${index}`);
    }
    progress.note("exec_new", started);
    progress.note("exec_other", started);
    const heard: NodeEvent[] = [];
    const end = progress.untilEnd("exec_new", (event) => heard.push(event));
    progress.end("exec_new");
    await end;
    expect(heard).toEqual([started]);
  });
});
