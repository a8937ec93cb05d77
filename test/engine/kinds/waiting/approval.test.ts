import { answerTask, cancelExecution, requestApproval, settleNode, sweep } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { Asked, aDaySeconds, asking } from "../../../support/engine/waiting.ts";

const byAnn = { choice: "approved", by: "ann", from: "a test" };

const refused = (story: Asked, choice = "approved", data?: string) =>
  answerTask(story.ports, {
    execution: story.id,
    node: "ask",
    choice,
    by: "bob",
    from: "a page",
    ...(data !== undefined && { data }),
  });

async function waiting(options = {}, more: [string, string, string][] = [], context = "{}"): Promise<Asked> {
  const story = await new Asked(asking(options, more)).begin(context);
  await requestApproval(story.ports, story.event());
  return story;
}

describe("a new approval", () => {
  it("creates an open task, marks the run as waiting, publishes an event that says how to answer, and releases its sandbox", async () => {
    const story = await waiting(
      { message: "Pay {{amount}} to {{who.name}}?", to: ["boss"] },
      [],
      '{"amount": 850.0, "who": {"name": "Zoë"}}',
    );
    expect(story.task).toMatchObject({
      ...{ node: "ask", seq: 2, status: "open", message: "Pay 850.0 to Zoë?", to: ["boss"] },
    });
    expect(story.status).toBe("waiting");
    expect(story.world.sandboxes.alive()).toEqual([]);
    const waitingEvents = story.world.events.published.filter(({ type }) => type === "execution.waiting");
    expect(waitingEvents.map(({ detail }) => detail)).toEqual([
      expect.objectContaining({ node: "ask", task_id: story.task.id, link: `link to ${story.task.id}` }),
    ]);
  });

  it("creates one task that has the Step Functions tokens of all deliveries, however many deliveries there are", async () => {
    const story = await waiting();
    await requestApproval(story.ports, story.event());
    await requestApproval(story.ports, story.event("token-2"));
    expect(story.world.tasks.tokens.get(story.task.id)).toHaveLength(2);
  });

  it("masks secrets in the message that people see", async () => {
    const workflow = asking({ message: "Use {{key}} of {{all}}?" });
    workflow.inputs = { properties: { key: { secret: true } } };
    const story = await new Asked(workflow).begin('{"key": "s3cr3t-value", "all": ["s3cr3t-value"]}');
    await requestApproval(story.ports, story.event());
    expect(story.task.message).not.toContain("s3cr3t");
  });

  it("masks the client's credentials in the message that people see, even if another source contains the same text", async () => {
    const story = await new Asked(asking({ message: "Answer {{mail}}?" })).begin('{"mail": "it is pa55-w0rd!"}');
    const credentials = { ...story.ports.credentials, secretsOf: async () => ["pa55-w0rd"] };
    await requestApproval({ ...story.ports, credentials }, story.event());
    expect(story.task.message).toBe("Answer it is ***!?");
  });

  it("fails its node if its message names a value that the context does not have", async () => {
    const story = await new Asked(asking({ message: "Pay {{amount}}?" })).begin();
    await expect(requestApproval(story.ports, story.event())).rejects.toThrow(
      /names \{\{amount\}\}, which the context/,
    );
    expect(story.chain.at(-1)).toBe("ask failed");
    expect(story.world.tasks.all()).toEqual([]);
  });
});

describe("an answer to an approval", () => {
  it("is written to the chain, and then sent to Step Functions with every token of the approval", async () => {
    const story = await waiting({ into: "verdict", form: { type: "object" } });
    await requestApproval(story.ports, story.event("token-2"));
    const data = '{"limit": 12345678901234567890}';
    await answerTask(story.ports, { task: story.task.id, choice: "approved", data, by: "ann", from: "a page" });
    expect(story.chain.at(-1)).toBe("ask success");
    const output = JSON.parse(story.world.answered.get("token-1") ?? "{}");
    expect(output).toMatchObject({ scope: "", seq: 2, decision: "approved" });
    expect(JSON.stringify(output)).not.toContain("ann");
    expect(Array.from(story.world.answered.keys())).toEqual(["token-1", "token-2"]);
    expect(story.task.status).toBe("sent");
    expect(story.status).toBe("running");
    const at = story.world.clock.iso();
    expect(await story.value("verdict")).toMatchObject({ choice: "approved", by: "ann", at, from: "a page" });
    expect((await story.world.chain.entriesOf(story.id)).at(-1)?.head).toContain('"path_taken":"pay"');
    expect(JSON.stringify(Array.from(story.world.chain.places.values()))).toContain("12345678901234567890");
  });

  it.each([
    [
      "whose choice the approval does not offer",
      {},
      "perhaps",
      undefined,
      /"perhaps" is no choice of "ask" - choose approved or rejected/,
    ],
    [
      "whose data does not fit the form of the approval",
      { form: { type: "object", required: ["why"] } },
      "approved",
      "{}",
      /has no "why"/,
    ],
    [
      "that lacks the data that the form requires",
      { form: { type: "object", required: ["why"] } },
      "approved",
      undefined,
      /has no "why"/,
    ],
    ["that is nested too deep", {}, "approved", "[".repeat(600) + "]".repeat(600), /more than 500 levels/],
  ])("%s is refused, and the task of the approval stays open", async (_what, options, choice, data, sentence) => {
    const story = await waiting(options);
    await expect(refused(story, choice, data)).rejects.toThrow(sentence);
    expect(story.task.status).toBe("open");
    expect(story.chain.at(-1)).toBe("prepare success");
  });

  it.each([
    ["approved", '{"cost_center": 7}', undefined],
    ["approved", '{"why": "so"}', /the form of "ask" refuses the data: .*cost_center/],
    ["rejected", '{"why": "so"}', undefined],
    ["rejected", undefined, /has no "why"/],
  ])(
    "with the choice %s and the data %j is checked against the form of that choice, or else against the form for all choices",
    async (choice, data, sentence) => {
      const own = { approved: { required: ["cost_center"] } };
      const story = await waiting({ form: { required: ["why"] }, forms: own });
      const answered = refused(story, choice, data);
      if (sentence) await expect(answered).rejects.toThrow(sentence);
      else expect((await answered).sent).toBe(true);
    },
  );

  it("is refused for a wrong choice first, then for an earlier answer, and last for wrong data", async () => {
    const story = await waiting({ form: { type: "object", required: ["why"] } });
    const name = async (choice: string) => refused(story, choice, "{}").catch((error: Error) => error.name);
    expect([await name("perhaps"), await name("approved")]).toEqual(["AnswerMisfit", "AnswerMisfit"]);
    await refused(story, "rejected", '{"why": "so"}');
    await expect(refused(story, "perhaps", "{}")).rejects.toThrow(/is no choice/);
    await expect(refused(story, "approved", "{}")).rejects.toThrow(/already answered by bob at .*: rejected/);
    expect(await name("approved")).toBe("AnswerRefused");
  });

  it("needs no node id if only one node of the run waits", async () => {
    const story = await waiting();
    const { task } = await answerTask(story.ports, { execution: story.id, ...byAnn });
    expect(task.node).toBe("ask");
    const again = answerTask(story.ports, { execution: story.id, choice: "approved", by: "bob", from: "a test" });
    await expect(again).rejects.toThrow(/"ask" was already answered by ann at .*: approved/);
  });

  it("is refused if it is sent twice, with a message that names the first answer and the time of the first answer", async () => {
    const story = await waiting();
    const at = story.world.clock.iso();
    await story.finish(story.answering("rejected"));
    await expect(refused(story)).rejects.toThrow(`"ask" was already answered by ann at ${at}: rejected (a test)`);
  });

  it("that comes after the timeout is refused", async () => {
    const story = await waiting();
    story.world.clock.advance(aDaySeconds * 1000);
    await expect(refused(story)).rejects.toThrow(/"ask" expired at 2026-01-02/);
  });

  it.each([
    ["the approval has not been requested yet", async (_: Asked) => {}, "ask", /"ask" does not wait for an answer yet/],
    [
      "the workflow has no approval of that name",
      async (_: Asked) => {},
      "asks",
      /has no approval "asks" - its approvals are "ask"/,
    ],
    [
      "the run was cancelled",
      async (story: Asked) => {
        await requestApproval(story.ports, story.event());
        await cancelExecution(story.ports, story.id);
      },
      "ask",
      /takes no answer any more: the execution was cancelled/,
    ],
  ])("is refused if %s", async (_what, prepare, node, sentence) => {
    const story = await new Asked(asking()).begin();
    await prepare(story);
    const answer = { execution: story.id, node, ...byAnn };
    await expect(answerTask(story.ports, answer)).rejects.toThrow(sentence);
  });

  it("to an unknown task or run is refused", async () => {
    const story = await new Asked(asking()).begin();
    await expect(answerTask(story.ports, { task: "task_none", ...byAnn })).rejects.toThrow(/no task "task_none"/);
    const other = { execution: "exec_none", node: "ask", ...byAnn };
    await expect(answerTask(story.ports, other)).rejects.toThrow(/no execution "exec_none"/);
  });

  it("must name the id of a task if several tasks of the node are open", async () => {
    const story = await waiting();
    const other = { ...story.task, id: "task_other", scope: "/m@1.0", seq: 1 };
    await story.ports.tasks.create(other);
    const both = /"ask" waits for 2 answers - name the task to answer: task_\w+ \(ask\), task_other \(ask\)$/;
    await expect(refused(story)).rejects.toThrow(both);
    const any = answerTask(story.ports, { execution: story.id, ...byAnn });
    await expect(any).rejects.toThrow(`${story.id} waits for 2 answers - name the task to answer`);
  });

  it.each([
    ["the next approval of the run", { node: "next" }],
    ["the next visit of the same node in a loop", { seq: 5 }],
    ["the same node for another item of a map", { scope: "/m@1.0" }],
  ])(
    "does not answer %s when it is sent a second time, and its refusal names the person who answered first",
    async (_what, of) => {
      const story = await waiting();
      const at = story.world.clock.iso();
      const next = { ...story.task, id: "task_next", ...of };
      const answer = { execution: story.id, ...byAnn };
      await answerTask(story.ports, answer);
      await story.ports.tasks.create(next);
      const told =
        `${story.id} has asked 2 times, and "ask" was already answered by ann at ${at}: approved (a test) - ` +
        `name the task to answer: task_next (${next.node})`;
      await expect(answerTask(story.ports, answer)).rejects.toThrow(told);
      const again = answerTask(story.ports, { ...answer, node: "ask" });
      await expect(again).rejects.toThrow(/already answered by ann/);
      expect(story.world.tasks.all().map(({ status }) => status)).toEqual(["sent", "open"]);
    },
  );

  it("is refused when it is sent a second time after the last of several approvals, and the refusal names the latest answer", async () => {
    const story = await waiting();
    await story.ports.tasks.create({
      ...story.task,
      id: "task_0",
      createdAt: "2025-01-01T00:00:00.000Z",
      status: "expired",
    });
    const answer = { execution: story.id, ...byAnn };
    await answerTask(story.ports, {
      ...answer,
      task: story.world.tasks.all().find(({ id }) => id !== "task_0")?.id ?? "",
    });
    await expect(answerTask(story.ports, answer)).rejects.toThrow(/already answered by ann/);
  });

  it("makes the run take the default edge if no edge is for the choice of the answer", async () => {
    const story = await waiting({ choices: ["approved", "later"] }, [["ask", "prepare", "default"]]);
    await story.finish(story.answering("later"));
    const head = JSON.parse(story.world.chain.entriesOf(story.id).at(-1)?.head ?? "{}");
    expect(head).toMatchObject({ decision_result: "later", path_taken: "prepare" });
  });
});

describe("the timeout of an approval", () => {
  it.each([
    ["the edge for `timeout`", [["ask", "pay", "timeout"]], { decision: "timeout", failed: false }],
    ["the default edge", [["ask", "pay", "default"]], { decision: "timeout", failed: false }],
    ["no edge, and the node fails", [], { failed: true, error: { Error: "NodeTimeout" } }],
  ] as [string, [string, string, string][], object][])("makes the run take %s", async (_what, edges, answer) => {
    const story = await waiting({}, edges);
    const settled = await settleNode(story.ports, { ...story.settling(), expired: true });
    expect(settled).toMatchObject({ seq: 2, ...answer });
    expect(story.task.status).toBe("expired");
    expect(story.status).toBe("running");
  });

  it("puts the choice `timeout` into the context, but no name of a person", async () => {
    const story = await waiting({}, [["ask", "pay", "timeout"]]);
    await settleNode(story.ports, { ...story.settling(), expired: true });
    expect(await story.value("ask")).toMatchObject({ choice: "timeout", by: null, data: null });
    await expect(refused(story)).rejects.toThrow(/"ask" expired at .* and went on as "timeout"/);
  });

  it("is applied by the sweeper or by a late request if Step Functions does not report the timeout", async () => {
    const [overdue, late] = [
      await waiting({}, [["ask", "pay", "timeout"]]),
      await new Asked(asking({}, [["ask", "pay", "timeout"]])).begin(),
    ];
    overdue.world.clock.advance(aDaySeconds * 1000 + 61_000);
    expect(await sweep(overdue.ports)).toMatchObject({ tasks: { expired: [overdue.task.id], failed: [] } });
    expect(JSON.parse(overdue.world.answered.get("token-1") ?? "{}")).toMatchObject({ decision: "timeout" });
    const first = late.request();
    await late.until(first, "put token");
    late.world.clock.advance(aDaySeconds * 1000);
    first.kill();
    expect(await requestApproval(late.ports, late.event("token-2"))).toEqual({ task: null });
    expect(JSON.parse(late.world.answered.get("token-2") ?? "{}")).toMatchObject({ decision: "timeout" });
  });
});
