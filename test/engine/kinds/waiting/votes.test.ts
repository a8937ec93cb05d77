import { answerTask, delegateVote, requestApproval, sweep, verifyExecution, withdrawVote } from "@nova/engine";
import type { Approvers } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { type Arrow, action, flow, lines } from "../../../support/engine/flows.ts";
import { personOf } from "../../../support/engine/people.ts";
import { atOnce, type Process } from "../../../support/engine/scheduler.ts";
import { Story } from "../../../support/engine/story.ts";
import { Asked, approval, asking } from "../../../support/engine/waiting.ts";

const [ann, bob, cid] = ["ann", "bob", "cid"].map((name) => personOf(name)) as [
  ReturnType<typeof personOf>,
  ReturnType<typeof personOf>,
  ReturnType<typeof personOf>,
];

const three: Approvers = { any: ["ann@acme.com", "bob@acme.com", "role:finance"], count: 2, not: [] };

async function waiting(approvers: Partial<Approvers> = {}): Promise<Asked> {
  const story = await new Asked(
    asking({ approvers: { ...three, ...approvers } }, [["ask", "prepare", "timeout"]]),
  ).begin();
  await requestApproval(story.ports, story.event());
  return story;
}

function vote(story: Asked, person = ann, choice = "approved"): Process {
  return story.answering(choice, { person, by: "whoever" });
}

function withdrawal(story: Asked, person = ann): Process {
  return story.world.spawn("withdraw", (ports) =>
    withdrawVote(ports, { task: story.task.id }, { person, from: "a test" }),
  );
}

function delegation(story: Asked, to: string, person = ann): Process {
  return story.world.spawn("delegate", (ports) =>
    delegateVote(ports, { task: story.task.id }, { person, to, from: "a test" }),
  );
}

function messageOf(process: Process): string {
  return (process.error as Error).message;
}

/** Returns the kind or the decision of each entry of the approval, first of the votes. */
function written(story: Asked): unknown[] {
  const heads = story.world.chain.everyEntryOf(story.id).map(({ head }) => JSON.parse(head));
  return heads
    .filter(({ node_id }) => node_id === "ask")
    .sort((a, b) => b.scope.length - a.scope.length)
    .map((head) => [head.node_type, head.decision_result ?? head.error_class ?? null]);
}

describe("an approval with approvers", () => {
  it("is decided by the first choice for which as many different people as `count` have voted", async () => {
    const story = await waiting();
    expect(await story.finish(vote(story, ann))).toMatchObject({ missing: 1, sent: false });
    expect(story.task.status).toBe("open");
    expect(await story.finish(vote(story, bob, "rejected"))).toMatchObject({ missing: 1 });
    const finance = { ...cid, roles: ["runner", "finance"] };
    expect(await story.finish(vote(story, finance))).toMatchObject({ missing: 0, sent: true });
    expect(written(story)).toEqual([
      ["vote", "approved"],
      ["vote", "rejected"],
      ["vote", "approved"],
      ["approval", "approved"],
    ]);
    expect(await story.value("ask")).toMatchObject({
      choice: "approved",
      by: "cid@acme.com",
      via: { kind: "key", key: "key_cid" },
      votes: [{ by: "ann@acme.com" }, { by: "bob@acme.com", choice: "rejected" }, { by: "cid@acme.com" }],
    });
    expect(story.task.status).toBe("sent");
    expect(await verifyExecution(story.ports, story.id)).toMatchObject({ state: "open", links: 6 });
  });

  it("refuses a stranger, a key without an identity and a person with a wrong role, and writes nothing", async () => {
    const story = await waiting();
    const refused: [Process, string][] = [
      [
        vote(story, cid),
        'cid@acme.com may not answer "ask" - its approvers are ann@acme.com, bob@acme.com, role:finance',
      ],
      [story.answering("approved"), '"ask" takes answers only from people whose identity NOVA can prove'],
      [vote(story, { ...cid, groups: ["finance"] }), "cid@acme.com may not answer"],
      [withdrawal(story, ann), "ann@acme.com has no vote"],
      [delegation(story, "dan@acme.com", cid), "cid@acme.com may not answer"],
    ];
    for (const [process, message] of refused) {
      expect(await story.finish(process)).toMatch(/Refused$/);
      expect(messageOf(process)).toContain(message);
    }
    expect(written(story)).toEqual([]);
    expect(story.task.status).toBe("open");
  });

  it("counts the vote of one person once, even if the person proves their identity in two ways", async () => {
    const story = await waiting();
    await story.finish(vote(story, ann));
    const again = vote(story, { ...ann, ids: ["ann@acme.com", "sub_1"], via: { kind: "jwt", issuer: "https://id" } });
    expect(await story.finish(again)).toBe("AnswerRefused");
    expect(messageOf(again)).toMatch(
      /^ann@acme.com has voted "approved" on "ask" at .* - withdraw that vote to change it$/,
    );
    expect(written(story)).toEqual([["vote", "approved"]]);
  });

  it("lets people withdraw their votes until a choice has enough votes, but not afterwards", async () => {
    const story = await waiting();
    await story.finish(vote(story, ann));
    await story.finish(withdrawal(story, ann));
    expect(await story.finish(vote(story, bob))).toMatchObject({ missing: 1 });
    await story.finish(vote(story, ann, "rejected"));
    await story.finish(withdrawal(story, ann));
    expect(await story.finish(vote(story, ann))).toMatchObject({ missing: 0 });
    expect(await story.finish(withdrawal(story, bob))).toBe("AnswerRefused");
    expect(written(story)).toHaveLength(7);
    expect(await story.value("ask")).toMatchObject({ votes: [{ by: "bob@acme.com" }, { by: "ann@acme.com" }] });
  });

  it("counts the vote of a delegate in place of the approver's vote", async () => {
    const story = await waiting();
    await story.finish(delegation(story, "Cid@acme.com"));
    expect(story.task.delegates).toEqual(["cid@acme.com"]);
    const own = vote(story, ann);
    expect(await story.finish(own)).toBe("ApproverRefused");
    expect(messageOf(own)).toContain('ann@acme.com has delegated "ask" to cid@acme.com');
    await story.finish(vote(story, cid));
    const back = withdrawal(story, ann);
    await story.finish(back);
    expect(messageOf(back)).toBe("cid@acme.com has voted for ann@acme.com - ask cid@acme.com to withdraw first");
    const twice = delegation(story, "cid@acme.com", bob);
    await story.finish(twice);
    expect(messageOf(twice)).toContain("cid@acme.com may answer");
    await story.finish(withdrawal(story, cid));
    await story.finish(withdrawal(story, ann));
    expect(await story.finish(vote(story, ann))).toMatchObject({ missing: 1 });
    const late = vote(story, cid);
    expect(await story.finish(late)).toBe("ApproverRefused");
  });

  it("ends with its timeout if there are too few votes, and accepts no vote afterwards", async () => {
    const story = await waiting();
    await story.finish(vote(story, ann));
    story.world.clock.advance(24 * 3_600_000 + 1);
    expect(await story.finish(story.expiring())).toMatchObject({ decision: "timeout" });
    expect(await story.finish(vote(story, bob))).toBe("AnswerRefused");
    expect(written(story)).toEqual([
      ["vote", "approved"],
      ["vote", null],
      ["approval", "timeout"],
    ]);
    expect(await verifyExecution(story.ports, story.id)).toMatchObject({ state: "open" });
  });
});

describe("an approval whose votes arrive at once or late", () => {
  it("counts both of two votes that arrive at once", async () => {
    const story = await waiting();
    const [one, other] = [vote(story, ann), vote(story, bob)];
    await story.until(one, "entry 1");
    await story.until(other, "entry 1");
    await story.finish(other);
    expect(await story.finish(one)).toMatchObject({ missing: 0 });
    expect(written(story)).toEqual([
      ["vote", "approved"],
      ["vote", "approved"],
      ["approval", "approved"],
    ]);
  });

  it("counts one vote of a person who sends two votes at once", async () => {
    const story = await waiting();
    const [one, other] = [vote(story, ann), vote(story, ann, "rejected")];
    await story.until(one, "entry 1");
    await story.until(other, "entry 1");
    await story.finish(other);
    expect(await story.finish(one)).toBe("AnswerRefused");
    expect(written(story)).toEqual([["vote", "rejected"]]);
  });

  it("ends in the decision of the votes, because the sweeper completes it if the process dies after the decisive vote", async () => {
    const story = await waiting({ count: 1 });
    const one = vote(story, ann);
    await story.until(one, "entry 2");
    one.kill();
    expect(written(story)).toEqual([["vote", "approved"]]);
    story.world.clock.advance(120_000);
    await sweep(story.ports);
    expect(written(story)).toEqual([
      ["vote", "approved"],
      ["approval", "approved"],
    ]);
    expect(story.world.answered.size).toBe(1);
  });

  it("ends in the decision of the votes if another vote or the timeout comes after the decisive vote", async () => {
    for (const next of [(story: Asked) => vote(story, bob), (story: Asked) => story.expiring()]) {
      const story = await waiting({ count: 1 });
      const one = vote(story, ann);
      await story.until(one, "entry 2");
      one.kill();
      await story.finish(next(story));
      expect(written(story)).toEqual([
        ["vote", "approved"],
        ["approval", "approved"],
      ]);
    }
  });

  it("ends in the timeout if the timeout ends the voting before a vote is written", async () => {
    const story = await waiting({ count: 1 });
    const one = vote(story, ann);
    await story.until(one, "entry 1");
    expect(await story.finish(story.expiring())).toMatchObject({ decision: "timeout" });
    expect(await story.finish(one)).toBe("AnswerRefused");
    expect(written(story)).toEqual([
      ["vote", null],
      ["approval", "timeout"],
    ]);
  });
});

describe("two approvals of which one person may answer only one", () => {
  async function inBranches() {
    const any = ["ann@acme.com", "bob@acme.com", "cid@acme.com"];
    const node = (id: string, other: string) => approval(id, { approvers: { any, count: 2, not: [other] } });
    const answers = (id: string): Arrow[] => [
      [id, "j", "approved"],
      [id, "j", "rejected"],
    ];
    const arrows = [...lines("start > f > ask", "f > other", "j > end"), ...answers("ask"), ...answers("other")];
    const nodes = [action("f"), node("ask", "other"), node("other", "ask"), action("j")];
    const story = await new Story(flow("apart", nodes, arrows)).start();
    await story.finish(story.deliver("f", 0));
    const { workflowId, version } = story.world.record(story.id);
    const at = { execution: { id: story.id, workflowId, version }, seq: 0 };
    for (const id of ["ask", "other"])
      await requestApproval(story.world.ports(atOnce), { ...at, scope: `/f@1.${id}`, node: id, token: `of ${id}` });
    const on = (id: string, person = ann) =>
      story.world.spawn(`vote on ${id}`, (ports) =>
        answerTask(ports, { execution: story.id, node: id, choice: "approved", by: "", from: "a test", person }),
      );
    const votesOn = (id: string) =>
      story
        .entriesOf(`/f@1.${id}/${id}@1.(votes)`)
        .flatMap(({ contents: { vote } }) => (vote && "text" in vote ? [JSON.parse(vote.text)] : []))
        .map(({ kind, by, from }) => [kind, by.name, from]);
    return { story, on, votesOn };
  }
  const voted = (name: string) => ["vote", `${name}@acme.com`, "a test"];

  it("let a person vote on one of them even if a process died before it wrote this person's vote on the other", async () => {
    const { story, on, votesOn } = await inBranches();
    const dying = on("ask");
    await story.until(dying, "entry 1");
    const early = on("other");
    expect(await story.finish(early)).toBe("ApproverRefused");
    expect(messageOf(early)).toBe(
      'ann@acme.com votes on "ask" right now and may not answer "other" - ask again in a minute, or let another approver answer',
    );
    story.world.clock.advance(10_000);
    expect(await story.finish(on("other"))).toMatchObject({ missing: 1 });
    expect(votesOn("ask")).toEqual([["withdrawal", "ann@acme.com", 'a vote on "other"']]);
    expect(await story.finish(dying)).toBe("ApproverRefused");
    expect(votesOn("ask")).toHaveLength(1);
    expect(votesOn("other")).toEqual([voted("ann")]);
  });

  it("need no withdrawal of an unwritten vote if another person's vote was written in the meantime", async () => {
    const { story, on, votesOn } = await inBranches();
    const dying = on("ask");
    await story.until(dying, "entry 1");
    await story.finish(on("ask", bob));
    expect(await story.finish(on("other"))).toMatchObject({ missing: 1 });
    expect(await story.finish(dying)).toBe("ApproverRefused");
    expect([votesOn("ask"), votesOn("other")]).toEqual([[voted("bob")], [voted("ann")]]);
  });

  it("let a person vote on one of them only, even if this person's vote on the other decides in the meantime", async () => {
    const { story, on, votesOn } = await inBranches();
    await story.finish(on("ask", bob));
    const late = on("other");
    await story.until(late, "voter");
    await story.finish(on("ask"));
    expect(await story.finish(late)).toBe("ApproverRefused");
    expect(messageOf(late)).toContain('ann@acme.com votes on "ask" and may not answer "other" - withdraw there first');
    expect([votesOn("ask"), votesOn("other")]).toEqual([[voted("bob"), voted("ann")], []]);
  });
});

describe("a reminder of an approval", () => {
  it("is an event that is published at each due time until a vote decides or the timeout ends", async () => {
    const story = await new Asked(asking({ remindSeconds: [3600, 7200, 10_800] })).begin();
    await requestApproval(story.ports, story.event());
    const sent = () =>
      story.world.events.published.flatMap(({ type, detail }) =>
        type === "execution.waiting" ? [detail.reminder ?? 0] : [],
      );
    const later = async (seconds: number) => {
      story.world.clock.advance(seconds * 1000);
      await sweep(story.ports);
      await sweep(story.ports);
    };
    await later(3_500);
    expect(sent()).toEqual([0]);
    await later(200);
    expect(sent()).toEqual([0, 1]);
    await later(8_000);
    expect(sent()).toEqual([0, 1, 3]);
    await story.finish(story.answering());
    await later(8_000);
    expect(sent()).toEqual([0, 1, 3]);
  });
});
