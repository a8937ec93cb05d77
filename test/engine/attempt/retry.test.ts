import { readTrace } from "@nova/engine";
import type { Retry } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { headOf } from "../../../packages/engine/src/chain/entry.ts";
import { action, flow, lines, prompted } from "../../support/engine/flows.ts";
import type { Script } from "../../support/engine/harness.ts";
import { PromptStory } from "../../support/engine/prompt-story.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { scriptedMinds } from "../../support/engine/scripted-minds.ts";
import { fails, Story, succeeds } from "../../support/engine/story.ts";

const thrice: Retry = { attempts: 3, delaySeconds: 10, backoff: 3 };
const path = lines("start > a > b > end");
const flowWith = (retry: Retry, more = {}) => flow("again", [action("a", { retry, ...more }), action("b")], path);
const exhausted = { Error: "NodeRetry", Cause: '{"errorType":"NodeRetry","errorMessage":"attempt 1 failed"}' };

function raises(message: string, ...types: string[]): Script {
  return { result: { ...fails(message).result, status: "error", types } as Script["result"] };
}

async function begun(retry: Retry, scripts: Script[], more = {}): Promise<Story> {
  return new Story(flowWith(retry, more), { a: scripts }).start();
}

/** Reads the entry of the node from the trace. */
async function told(story: Story) {
  const { entries } = await readTrace(story.world.ports(atOnce), story.id);
  return entries.find(({ node_id }) => node_id === "a");
}

const attempts = (story: Story) => story.begun.filter(({ request }) => request.node === "a").length;

describe("a node with a retry", () => {
  it("runs again with the same idempotency key, with or without effects, and its entry lists each failed attempt", async () => {
    const story = await begun(thrice, [fails("one"), fails("two"), succeeds("a", "1")]);
    await story.everything();
    const runs = story.begun.filter(({ request }) => request.node === "a");
    expect(new Set(runs.map(({ request }) => request.environment.NOVA_IDEMPOTENCY_KEY)).size).toBe(1);
    expect(await told(story)).toMatchObject({
      ...{ status: "success", attempt: 3, execution_time_ms: 1 },
      steps: [
        { attempt_number: 1, error_class: "NodeFailed", error_message: "one", retry_delay_ms: 10_000 },
        { attempt_number: 2, error_class: "NodeFailed", error_message: "two", retry_delay_ms: 30_000 },
      ],
    });
    expect(story.chain.at(-1)).toBe("(close) completed");
    await story.judge();
  });

  it.each([{}, { isolation: "execution" }] as const)(
    "with the settings %j runs its second and third attempts in the sandbox of the first attempt",
    async (more) => {
      const story = await begun(thrice, [fails("one"), succeeds("a", "1")], more);
      await story.everything();
      expect(story.begun.map(({ box }) => box.id)).toEqual(["S1", "S1", "S1"]);
      await story.judge();
    },
  );

  it("fails with the error of its last attempt, and its entry records the last attempt like the earlier attempts", async () => {
    const story = await begun({ attempts: 2, delaySeconds: 1 }, [fails("one"), fails("two")]);
    await story.everything();
    const entry = await told(story);
    expect(entry).toMatchObject({ status: "failed", error_class: "NodeFailed", error_message: "two", attempt: 2 });
    expect(entry?.steps.map((step) => [step.error_message, "retry_delay_ms" in step])).toEqual([
      ["one", true],
      ["two", false],
    ]);
    await story.judge();
  });

  it("starts its next attempt only after the delay, whichever delivery comes, and keeps no sandbox during a long delay", async () => {
    const story = await begun({ attempts: 2, delaySeconds: 100 }, [fails("one"), succeeds("a", "1")]);
    const doubled = [story.deliver("a", 0), story.deliver("a", 0)] as const;
    expect(await story.finish(...doubled)).toBe("NodeRetry");
    expect(doubled.map(({ error }) => (error as Error).name)).toEqual(["NodeRetry", "NodeRetry"]);
    expect(story.world.chain.at({ execution: story.id, scope: "", seq: 1 }).turn).toMatchObject({
      ...{ state: "held", sandbox: null, attempt: 1 },
      due: expect.any(String),
    });
    expect(story.world.sandboxes.alive()).toEqual([]);
    story.world.clock.advance(98_000);
    expect(await story.finish(story.deliver("a", 0))).toBe("NodeRetry");
    expect(attempts(story)).toBe(1);
    story.world.clock.advance(2_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(attempts(story)).toBe(2);
  });

  it("releases the sandbox of earlier nodes during a long delay, and its entry does not name this sandbox", async () => {
    const b = action("b", { isolation: "fresh", retry: { attempts: 2, delaySeconds: 3600 } });
    const nodes = [action("a", { timeoutSeconds: 300 }), b, action("c")];
    const row = flow("waits", nodes, lines("start > a > b > c > end"));
    const story = await new Story(row, { b: [fails("one"), succeeds("b", "1")] }).start();
    await story.finish(story.deliver("a", 0));
    expect(story.world.sandboxes.alive()).toMatchObject([{ id: "S1" }]);
    expect(await story.finish(story.deliver("b", 1))).toBe("NodeRetry");
    expect(story.world.sandboxes.alive()).toEqual([]);
    story.world.clock.advance(3_600_000);
    expect(await story.finish(story.deliver("b", 1))).toMatchObject({ seq: 2 });
    expect(story.entriesOf("").map((entry) => headOf(entry).warm?.id)).toEqual([undefined, "S1", undefined]);
    await story.everything();
    await story.judge();
  });

  it("fails with the error of its last attempt when Step Functions stops sending deliveries", async () => {
    const story = await begun(thrice, [raises("no way", "ValueError")]);
    expect(await story.finish(story.deliver("a", 0))).toBe("NodeRetry");
    expect(await story.finish(story.settle("a", 0, { error: exhausted }))).toMatchObject({
      error: { Error: "NodeFailed", Cause: 'node "a": no way' },
    });
    expect(await told(story)).toMatchObject({ attempt: 1, steps: [{ error_message: "no way" }] });
  });

  it("starts no further attempt if its run is cancelled between two attempts", async () => {
    const story = await begun(thrice, [fails("one"), succeeds("a", "1")]);
    await story.finish(story.deliver("a", 0));
    await story.finish(story.cancel());
    story.world.clock.advance(20_000);
    expect(await story.finish(story.deliver("a", 0))).toBe("ExecutionClosed");
    expect(attempts(story)).toBe(1);
    expect(await told(story)).toMatchObject({ error_class: "ExecutionClosed", execution_time_ms: 0, attempt: 1 });
    await story.judge();
  });

  it("starts its next attempt in a new sandbox if its sandbox is lost", async () => {
    const story = await begun({ attempts: 2, delaySeconds: 1 }, [succeeds("a", "1")]);
    story.codeStopsAt = "finish";
    const first = story.deliver("a", 0);
    await story.finish(first);
    story.world.sandboxes.kill("S1");
    story.codeStopsAt = undefined;
    expect(await story.finish(first)).toBe("NodeRetry");
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(await told(story)).toMatchObject({ steps: [{ error_class: "NodeInterrupted" }], sandbox_id: "S2" });
    await story.judge();
  });

  it("commits a late result of its first attempt, and then starts no further attempt", async () => {
    const story = await begun({ attempts: 2, delaySeconds: 1 }, [succeeds("a", "1")]);
    const knows = story.deliver("a", 0);
    await story.until(knows, "entry 1");
    story.world.sandboxes.kill("S1");
    await story.finish(story.deliver("a", 0));
    const next = story.deliver("a", 0);
    await story.until(next, "turn 1 a held 2");
    expect(await story.finish(knows)).toMatchObject({ seq: 1 });
    expect(await story.finish(next)).toMatchObject({ seq: 1 });
    expect(attempts(story)).toBe(1);
    expect(story.world.sandboxes.alive()).toEqual([]);
    expect(story.entriesOf("").map((entry) => headOf(entry).steps)).toEqual([[], []]);
  });

  it("with code that may run for hours waits for its next attempt in a Wait state of Step Functions", async () => {
    const story = await begun(
      { attempts: 3, delaySeconds: 100, backoff: 2 },
      [fails("one"), fails("two"), succeeds("a", "1")],
      {
        timeoutSeconds: 7200,
      },
    );
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ running: true, pause: 100 });
    story.world.clock.advance(60_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ running: true, pause: 40 });
    story.world.clock.advance(40_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ running: true, pause: 200 });
    story.world.clock.advance(200_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    expect(story.begun.map(({ box, claim }) => [box.id, claim.attempt])).toEqual([
      ["S1", 1],
      ["S2", 2],
      ["S3", 3],
    ]);
  });
});

it("an entry names the number of deliveries that failed before the first attempt, if Step Functions counts them", async () => {
  const story = await begun(thrice, [fails("one"), succeeds("a", "1")]);
  const input = { execution: { id: story.id, workflowId: "again", version: 1 }, scope: "", seq: 0, node: "a" };
  const deliver = (retries: number) =>
    story.world.deliver({ function: "nova-run-node", input: { ...input, retries } }, { time: new AbortController() });
  await story.finish(deliver(2));
  story.world.clock.advance(10_000);
  await story.finish(deliver(3));
  expect(await told(story)).toMatchObject({ attempt: 2, failed_deliveries: 2 });
});

describe("an error name in the list `retry.on`", () => {
  const refused = raises(
    "HTTPError: 503 Server Error: busy",
    "requests.exceptions.HTTPError",
    "requests.exceptions.RequestException",
    "OSError",
    "Exception",
  );

  const elsewhere = raises("HTTPError: 404 Client Error: Not Found for url: http://shop/orders/503", "HTTPError");
  const plain = raises("HTTPError: answered 503 (see http://shop:404/a)", "HTTPError");
  const told404 = { result: { ...elsewhere.result, message: "503 is in the text", httpStatus: 404 } } as Script;

  it.each([
    ["HTTPError 503", elsewhere, 1],
    ["HTTPError 404", elsewhere, 2],
    ["HTTPError 503", plain, 2],
    ["HTTPError 404", plain, 1],
    ["HTTPError 503", told404, 1],
    ["HTTPError 404", told404, 2],
    ["HTTPError Server Error", refused, 2],
    ["HTTPError", refused, 2],
    ["requests.HTTPError", refused, 2],
    ["requests.exceptions.HTTPError 503", refused, 2],
    ["OSError", refused, 2],
    ["HTTPError 429", refused, 1],
    ["httpx.HTTPError", refused, 1],
    ["Error", refused, 1],
    ["NodeFailed", refused, 2],
    ["CodeExecutionError 503", refused, 2],
    ["E2BTimeoutError", refused, 1],
    ["NodeTimeout", refused, 1],
    ["HTTPError", fails("HTTPError, said the code itself"), 1],
    ["NodeFailed", fails("the code said so itself"), 2],
  ])(
    "is compared with the class, the message and the HTTP status of a failure, which is retried if they match: %s",
    async (entry, script, runs) => {
      const story = await begun({ attempts: 2, delaySeconds: 1, on: ["KeyError", entry] }, [
        script,
        succeeds("a", "1"),
      ]);
      await story.everything();
      expect(attempts(story)).toBe(runs);
      await story.judge();
    },
  );
});

describe("a prompt node with a retry", () => {
  const node = prompted(action("a", { onError: "r", retry: { attempts: 2, delaySeconds: 10 } }));
  const written = flow("written", [node, action("r")], lines("start > a > end", "r > end"));
  const minds = () => scriptedMinds({ codes: ["one", "two", "three"] });

  it("asks all of its models again in each attempt, and its entry lists and counts the steps of every attempt", async () => {
    const down = [fails("down"), fails("down"), fails("down")];
    const story = new PromptStory(written, minds(), { a: [...down, succeeds("a", "1")] });
    await story.start();
    expect(await story.finish(story.deliver("a", 0))).toBe("NodeRetry");
    story.world.clock.advance(10_000);
    expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
    const [, entry] = (await story.trace()).entries;
    expect(entry?.steps.map(({ agent_name }) => agent_name)).toEqual([
      "InputAnalyzer",
      ...["CodeGenerator", "CodeValidator", "E2BExecutor"],
      ...["CodeGenerator", "CodeValidator", "E2BExecutor"],
      ...["CodeGenerator", "CodeValidator", "E2BExecutor"],
      "Node",
      "InputAnalyzer",
      ...["CodeGenerator", "CodeValidator", "E2BExecutor", "OutputValidator"],
    ]);
    expect(entry?.steps[10]).toMatchObject({ step_name: "node_attempt", attempt_number: 1, retry_delay_ms: 10_000 });
    expect(entry?.ai_metadata).toMatchObject({ attempts: 1, status: "success", errors: [] });
    expect(story.head.spent?.cost_usd).toBeCloseTo(story.authors.payments.length * 0.001);
    await story.everything();
    await story.judge();
  });

  it("runs its pinned code again if no model may write new code", async () => {
    const pinned = { generation: "g", code: "kept" };
    const story = new PromptStory(written, scriptedMinds({ pinned }), { a: [fails("down"), succeeds("a", "1")] });
    await story.start("{}", { frozen: true });
    await story.everything();
    expect(story.paid).toEqual([]);
    const [, entry] = (await story.trace()).entries;
    expect(entry).toMatchObject({
      status: "success",
      attempt: 2,
      steps: [{ agent_name: "Node", error_message: "down" }],
    });
    expect(entry?.ai_metadata).toMatchObject({ cache_hit: true, execution_time_ms: 1, attempts: 1 });
    await story.judge();
  });
});

describe("the header Retry-After of a failed request", () => {
  const busy = (retryAfter: string): Script => {
    const { result } = raises("HTTPError: 429", "HTTPError");
    return { result: { ...result, httpStatus: 429, retryAfter } } as Script;
  };
  const bounded: Retry = { attempts: 2, delaySeconds: 2, maxDelaySeconds: 60 };

  /** Returns the results of the first two deliveries, and the delay in seconds that the first delivery recorded. */
  async function answered(retry: Retry, retryAfter: string) {
    const story = await begun(retry, [busy(retryAfter), succeeds("a", "1")]);
    const answer = await story.finish(story.deliver("a", 0));
    const again = await story.finish(story.deliver("a", 0));
    const { retry_delay_ms } = (await told(story))?.steps[0] ?? {};
    return { story, answer, again, retry_delay_ms };
  }

  it.each([
    ["30", bounded, 30],
    ["3600", bounded, 60],
    ["99999999999999999999", bounded, 60],
    ["30", { ...bounded, jitter: true }, 30],
  ] as const)(
    "with the value %s and the retry settings %j makes the run wait for %d seconds",
    async (header, retry, seconds) => {
      const { story, answer, again } = await answered(retry, header);
      expect(answer).toMatchObject({ running: true, pause: seconds });
      expect(again).toMatchObject({ running: true, pause: seconds });
      story.world.clock.advance(seconds * 1000);
      expect(await story.finish(story.deliver("a", 0))).toMatchObject({ seq: 1 });
      expect((await told(story))?.steps).toMatchObject([{ retry_delay_ms: seconds * 1000 }]);
      expect(attempts(story)).toBe(2);
    },
  );

  it.each([
    ["1", bounded],
    ["Wed, 21 Oct 2015 07:28:00 GMT", bounded],
    ["soon", bounded],
    ["30", { attempts: 2, delaySeconds: 2 }],
  ] as const)("with the value %s does not change the delay of the retry settings %j", async (header, retry) => {
    expect((await answered(retry, header)).answer).toBe("NodeRetry");
  });
});
