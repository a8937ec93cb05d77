import { cancelExecution, requestApproval, sweep } from "@nova/engine";
import { describe, expect, it } from "vitest";
import type { AnswerRefused } from "../../../../packages/engine/src/kinds/waiting/waiting-task.ts";
import { Asked, asking } from "../../../support/engine/waiting.ts";

const withTimeout = asking({}, [["ask", "prepare", "timeout"]]);

async function waiting(): Promise<Asked> {
  const story = await new Asked(withTimeout).begin();
  await requestApproval(story.ports, story.event());
  return story;
}

/** Returns the decision or the error class of each entry of the approval. */
function decision(story: Asked): unknown {
  const heads = story.world.chain.entriesOf(story.id).map(({ head }) => JSON.parse(head));
  return heads.filter(({ node_id }) => node_id === "ask").map((head) => head.decision_result ?? head.error_class);
}

describe("the race between the answers and the timeout of an approval", () => {
  it("is won by the answer once its entry is on the chain, even if its process then dies and the timeout ends", async () => {
    const story = await waiting();
    const answer = story.answering();
    await story.until(answer, "SendTaskSuccess");
    answer.kill();
    expect(await story.finish(story.expiring())).toMatchObject({ seq: 2, failed: false, decision: "approved" });
    expect(decision(story)).toEqual(["approved"]);
  });

  it("is won by the timeout if the answer comes later, and the answer is refused with this reason", async () => {
    const story = await waiting();
    const answer = story.answering();
    await story.until(answer, "entry 2");
    expect(await story.finish(story.expiring())).toMatchObject({ decision: "timeout" });
    expect(await story.finish(answer)).toBe("AnswerRefused");
    expect((answer.error as AnswerRefused).message).toMatch(/expired at .* went on as "timeout"/);
    expect(decision(story)).toEqual(["timeout"]);
    expect(story.task.status).toBe("expired");
    expect(story.world.answered.size).toBe(0);
  });

  it.each(["before", "after", "repeat"] as const)(
    "has one winner even if the write of the entry fails or is repeated (fault: %s)",
    async (fault) => {
      const story = await waiting();
      const answer = story.answering();
      await story.until(answer, "entry 2");
      await story.perform(answer, fault);
      const outcome = await story.finish(answer);
      if (fault === "repeat") expect(outcome).toMatchObject({ sent: true });
      else {
        expect(outcome).toBe("StoreUnavailable");
        expect(await story.finish(story.answering())).toEqual(fault === "before" ? expect.anything() : "AnswerRefused");
      }
      expect(decision(story)).toEqual(["approved"]);
    },
  );

  it("is won by one of two answers, and the refusal of the other answer names the person who answered first", async () => {
    const story = await waiting();
    const [first, second] = [story.answering("approved", { by: "ann" }), story.answering("rejected", { by: "bob" })];
    await story.until(first, "entry 2");
    await story.until(second, "entry 2");
    await story.finish(second);
    expect(await story.finish(first)).toBe("AnswerRefused");
    expect((first.error as Error).message).toMatch(/already answered by bob at .*: rejected/);
    expect(decision(story)).toEqual(["rejected"]);
  });
});

describe("an answer that arrives while a Lambda stores the Step Functions token of the approval", () => {
  it("is sent to Step Functions by that Lambda if the token was stored after the answer", async () => {
    const story = await waiting();
    const late = story.request("token-2");
    await story.until(late, "put token");
    await story.finish(story.answering());
    expect(Array.from(story.world.answered.keys())).toEqual(["token-1"]);
    await story.finish(late);
    expect(Array.from(story.world.answered.keys())).toEqual(["token-1", "token-2"]);
    expect(story.status).toBe("running");
    expect(story.task.status).toBe("sent");
  });

  it("leads to exactly one outcome for every order of the calls, and the run no longer has the status `waiting`", async () => {
    for (const point of ["read 1..", "turn 2", "put token", "create task", "set status", "read 2", "publish"]) {
      const story = await new Asked(withTimeout).begin();
      await story.finish(story.request("token-1"));
      const again = story.request("token-2");
      const reached = await story.until(again, point).then(
        () => true,
        () => false,
      );
      await story.finish(story.answering());
      await story.finish(again);
      expect([point, decision(story), story.status]).toEqual([point, ["approved"], "running"]);
      if (!reached) expect(point).toMatch(/turn 2|create/);
    }
  });
});

describe("the race between an answer and a close", () => {
  it("ends in a refused answer if the run was cancelled before the entry of the answer was written", async () => {
    const story = await waiting();
    const answer = story.answering();
    await story.until(answer, "entry 2");
    await story.finish(story.cancel());
    expect(await story.finish(answer)).toBe("AnswerRefused");
    expect(story.chain.slice(-2)).toEqual(["ask failed", "(close) cancelled"]);
    expect(story.task.status).toBe("expired");
    expect(story.status).toBe("cancelled");
  });

  it("ends in a refused answer if the close has stopped the approval but not yet written its failed entry", async () => {
    const story = await waiting();
    const cancel = story.cancel();
    await story.until(cancel, "entry 2");
    const answer = story.answering();
    await story.finish(answer);
    expect((answer.error as Error).message).toMatch(/is over/);
    await story.finish(cancel);
    expect(story.chain.slice(-2)).toEqual(["ask failed", "(close) cancelled"]);
  });

  it("leaves no open task if the approval is requested after the close", async () => {
    const story = await new Asked(withTimeout).begin();
    const request = story.request();
    await story.until(request, "read 2");
    await cancelExecution(story.ports, story.id);
    expect(await story.finish(request)).toBe("ExecutionClosed");
    expect(story.task.status).toBe("expired");
    expect(story.status).toBe("cancelled");
  });
});

describe("a sweep of tasks", () => {
  it("sends an answer that was recorded but not sent to Step Functions", async () => {
    const story = await waiting();
    const answer = story.answering();
    await story.until(answer, "SendTaskSuccess");
    answer.kill();
    expect((await sweep(story.ports)).tasks.sent).toEqual([]);
    story.world.clock.advance(61_000);
    expect((await sweep(story.ports)).tasks.sent).toEqual([story.task.id]);
    expect(story.world.answered.has("token-1")).toBe(true);
    expect([story.task.status, story.status]).toEqual(["sent", "running"]);
  });

  it("opens a task again if the process of its answer died before it wrote to the chain", async () => {
    const story = await waiting();
    const answer = story.answering();
    await story.until(answer, "entry 2");
    answer.kill();
    expect(story.task.status).toBe("answered");
    story.world.clock.advance(61_000);
    expect((await sweep(story.ports)).tasks.reopened).toEqual([story.task.id]);
    expect([story.task.status, story.status]).toEqual(["open", "waiting"]);
    await story.finish(story.answering());
    expect(decision(story)).toEqual(["approved"]);
  });

  it("removes tasks of ended runs from the list of open tasks, and keeps the tasks of open runs", async () => {
    const story = await waiting();
    story.world.clock.advance(120_000);
    const before = story.world.scheduler.story.length;
    expect((await sweep(story.ports)).tasks).toEqual({ sent: [], reopened: [], expired: [], failed: [] });
    expect(story.world.scheduler.story).toHaveLength(before);
    const cancel = story.cancel();
    await story.until(cancel, "task expired");
    cancel.kill();
    await story.finish(story.cancel());
    expect(story.task.status).toBe("open");
    expect((await sweep(story.ports)).tasks.expired).toEqual([story.task.id]);
  });

  it("continues with the other tasks if the sweep of one task fails", async () => {
    const story = await waiting();
    const [sealed] = story.world.tasks.tokens.get(story.task.id) ?? [];
    if (sealed) sealed.sealed = "damaged";
    const answer = story.answering();
    await story.until(answer, "SendTaskSuccess").catch(() => undefined);
    story.world.clock.advance(61_000);
    const { tasks } = await sweep(story.ports);
    expect(tasks.failed).toEqual([{ id: story.task.id, reason: expect.stringContaining("sealed for something else") }]);
  });
});
