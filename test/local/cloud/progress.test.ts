import { describe, expect, it } from "vitest";
import { type NodeEvent, Progress } from "../../../packages/local/src/cloud/progress.ts";

const started: NodeEvent = { node: "a", state: "started" };
const succeeded: NodeEvent = { node: "a", state: "succeeded" };

describe("the progress of an execution", () => {
  it("is told to whoever comes in the middle, from the beginning", async () => {
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

  it("is told to whoever comes after its end, and does not keep them", async () => {
    const progress = new Progress();
    progress.note("exec_1", succeeded);
    progress.end("exec_1");
    const heard: NodeEvent[] = [];
    await progress.untilEnd("exec_1", (event) => heard.push(event));
    expect(heard).toEqual([succeeded]);
  });

  it("is never forgotten while somebody waits for the end", async () => {
    const progress = new Progress();
    const end = progress.untilEnd("exec_first");
    for (let index = 0; index < 2_000; index++) progress.end(`exec_${index}`);
    progress.end("exec_first");
    await end;
  });
});
