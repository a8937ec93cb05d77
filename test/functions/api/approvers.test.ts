import { verifyProof } from "@nova/verify";
import { describe, expect, it, vi } from "vitest";
import { type CallOptions, expectRefusal, useApi } from "./support/api.ts";

const api = useApi();
const keys = new Map<string, string>();

const approvers = { any: ["cfo@acme.com", "ceo@acme.com", "starter@acme.com"], count: 2, not: ["starter"] };

/** A workflow with an approval that has approvers, so that NOVA checks the identity of each voter. */
function paying(fields: object = approvers) {
  return {
    id: "paying",
    nodes: [
      { id: "start", type: "start" },
      { id: "pay", type: "approval", message: "Pay?", choices: ["yes", "no"], approvers: fields },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "pay" },
      { from: "pay", to: "end", condition: "yes" },
      { from: "pay", to: "end", condition: "no" },
    ],
  };
}

async function keyOf(name: string): Promise<string> {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const { body } = await api.call("POST /keys", { body: { role: "runner", identity: `${name}@acme.com` } });
  keys.set(name, body.key);
  return body.key;
}

async function as(name: string, request: string, options: CallOptions = {}) {
  return api.call(request, { ...options, key: await keyOf(name) });
}

async function startedTask(fields?: object): Promise<string> {
  await api.call("PUT /workflows/paying", { body: paying(fields) });
  const { body } = await as("starter", "POST /workflows/paying/execute", { body: {} });
  return (await api.taskOf(body.execution_id)).id;
}

const yes = { body: { choice: "yes" } };

describe("an approval with approvers", () => {
  it("lets the run continue after the votes of enough people with proven identities, and the chain stores the proofs", async () => {
    const task = await startedTask();
    const first = await as("cfo", `POST /tasks/${task}`, { body: { choice: "yes", by: "The Chairman" } });
    expect([first.status, first.body.missing, first.body.sent]).toEqual([200, 1, false]);
    const { body: shown } = await as("ceo", `GET /tasks/${task}`);
    expect(shown.voting).toEqual({
      votes: [
        {
          by: "cfo@acme.com",
          choice: "yes",
          at: expect.any(String),
          via: { kind: "key", key: expect.stringMatching(/^key_/) },
          claimed: "The Chairman",
        },
      ],
      delegations: [],
      missing: [
        { choice: "yes", count: 1 },
        { choice: "no", count: 2 },
      ],
      caller: "ceo@acme.com",
      refusal: null,
      withdrawal_refusal: expect.stringMatching(/^ceo@acme.com has no vote on "pay" to withdraw/),
    });
    const second = await as("ceo", `POST /tasks/${task}`, yes);
    expect(second.body).toMatchObject({ missing: 0, sent: true });
    const execution = second.body.execution_id;
    await expect
      .poll(async () => (await api.call(`GET /executions/${execution}`)).body.status, { timeout: 20_000 })
      .toBe("completed");
    const { body: chain } = await api.call(`GET /executions/${execution}/chain`);
    const own = chain.items.find(({ node_id }: { node_id: string }) => node_id === "pay");
    expect(own.branches[0].entries.map(({ vote }: { vote: object }) => vote)).toMatchObject([
      { kind: "vote", by: "cfo@acme.com", choice: "yes", claimed: "The Chairman", via: { kind: "key" } },
      { kind: "vote", by: "ceo@acme.com", choice: "yes" },
    ]);
    expect(own.changes.set.pay).toMatchObject({ choice: "yes", by: "ceo@acme.com", via: { kind: "key" } });
    expect((await api.call(`GET /executions/${execution}/verify`)).body).toMatchObject({ state: "anchored", links: 6 });
    for (const contents of ["none", "all"]) {
      const { text } = await api.call(`GET /executions/${execution}/proof?contents=${contents}`);
      expect(await verifyProof(text)).toMatchObject({ state: "valid", entries: 6 });
      expect(await verifyProof(text.replace('"decision_result\\":\\"yes', '"decision_result\\":\\"no'))).toMatchObject({
        state: "broken",
      });
    }
    await expectRefusal(as("cfo", `POST /tasks/${task}`, yes), 409, /was already answered by ceo@acme.com/);
  });

  it.each<[string, string, number, RegExp]>([
    ["a stranger", "mallory", 403, /^mallory@acme.com may not answer "pay" - its approvers are cfo@acme.com, /],
    ["the starter", "starter", 403, /^starter@acme.com started this run and may not answer "pay" - another approver/],
  ])("refuses a vote of %s, and its task stays open", async (_who, name, status, sentence) => {
    const task = await startedTask();
    await expectRefusal(
      as(name, `POST /tasks/${task}`, { body: { choice: "yes", by: "cfo@acme.com" } }),
      status,
      sentence,
    );
    await expectRefusal(as(name, `POST /tasks/${task}/delegate`, { body: { to: "x@acme.com" } }), 403, sentence);
    const { body } = await as(name, `GET /tasks/${task}`);
    expect(body).toMatchObject({ status: "open", voting: { votes: [], refusal: expect.stringMatching(sentence) } });
  });

  it("refuses a vote with an API key without an identity, even an admin's key", async () => {
    const task = await startedTask();
    const sentence = /^"pay" takes answers only from people whose identity NOVA can prove, and this key names none - /;
    await expectRefusal(api.call(`POST /tasks/${task}`, yes), 403, sentence);
    await expectRefusal(api.call("GET /tasks?mine=true"), 403, /names no person/);
  });

  it("counts one vote per person, and lets the person withdraw the vote", async () => {
    const task = await startedTask();
    await as("cfo", `POST /tasks/${task}`, yes);
    await expectRefusal(
      as("cfo", `POST /tasks/${task}`, { body: { choice: "no" } }),
      409,
      /^cfo@acme.com has voted "yes"/,
    );
    expect((await as("cfo", `POST /tasks/${task}/withdraw`)).status).toBe(200);
    await expectRefusal(as("cfo", `POST /tasks/${task}/withdraw`), 409, /has no vote on "pay" to withdraw/);
    expect((await as("cfo", `POST /tasks/${task}`, { body: { choice: "no" } })).body.missing).toBe(1);
  });

  it("refuses a vote of an approver for an unknown choice, and writes nothing", async () => {
    const task = await startedTask();
    await expectRefusal(as("cfo", `POST /tasks/${task}`, { body: { choice: "maybe" } }), 422, /"maybe" is no choice/);
    expect((await as("cfo", `GET /tasks/${task}`)).body.voting.votes).toEqual([]);
  });

  it("is listed as a task for the people who may vote on it now, and for their delegates", async () => {
    const task = await startedTask({ any: ["cfo@acme.com", "role:viewer"], count: 2 });
    const mine = async (name: string) => {
      const { body } = await as(name, "GET /tasks?mine=true");
      return body.items.some(({ task_id }: { task_id: string }) => task_id === task);
    };
    expect([await mine("cfo"), await mine("ceo"), await mine("deputy")]).toEqual([true, false, false]);
    expect((await as("cfo", `POST /tasks/${task}/delegate`, { body: { to: "Deputy@acme.com" } })).status).toBe(200);
    expect([await mine("cfo"), await mine("deputy")]).toEqual([false, true]);
    await expectRefusal(
      as("cfo", `POST /tasks/${task}`, yes),
      403,
      /^cfo@acme.com has delegated "pay" to deputy@acme.com/,
    );
    expect((await as("deputy", `POST /tasks/${task}`, yes)).body.missing).toBe(1);
    expect(await mine("deputy")).toBe(false);
    const { body } = await as("cfo", `GET /tasks/${task}`);
    expect(body.voting.delegations).toEqual([{ by: "cfo@acme.com", to: "deputy@acme.com", at: expect.any(String) }]);
  });

  it.each(["deputy", "a@b.c, d@e.f", ""])("cannot be delegated to %j", async (to) => {
    const task = await startedTask();
    await expectRefusal(as("cfo", `POST /tasks/${task}/delegate`, { body: { to } }), 422, /^the body does not fit/);
  });
});

describe("the people who answered another approval", () => {
  const nodes = (id: string, fields: object) => ({
    id,
    type: "approval",
    message: "Go on?",
    choices: ["yes"],
    approvers: fields,
  });
  const any = ["cfo@acme.com", "ceo@acme.com"];
  const twoSteps = {
    id: "two-steps",
    nodes: [
      { id: "start", type: "start" },
      nodes("hr", { any }),
      nodes("pay", { any, not: ["hr", "starter"] }),
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "hr" },
      { from: "hr", to: "pay", condition: "yes" },
      { from: "pay", to: "end", condition: "yes" },
    ],
  };

  const openTask = (execution: string, node: string) =>
    vi.waitFor(async () => {
      const tasks = await api.ports.tasks.ofExecution(execution);
      const task = tasks.find((one) => one.node === node);
      if (!task) throw new RangeError(`no task of ${node}`);
      return task.id;
    }, 20_000);
  const ended = (execution: string) =>
    expect
      .poll(async () => (await api.call(`GET /executions/${execution}`)).body.status, { timeout: 20_000 })
      .toBe("completed");

  const both = {
    id: "both",
    nodes: [
      { id: "start", type: "start" },
      { id: "fork", type: "action", code: "pass" },
      nodes("hr", { any, count: 2, not: ["pay"] }),
      nodes("pay", { any, count: 2, not: ["hr"] }),
      { id: "join", type: "action", code: "pass" },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "fork" },
      { from: "fork", to: "hr" },
      { from: "fork", to: "pay" },
      { from: "hr", to: "join", condition: "yes" },
      { from: "pay", to: "join", condition: "yes" },
      { from: "join", to: "end" },
    ],
  };

  async function openBoth(): Promise<{ execution: string; hr: string; pay: string }> {
    await api.call("PUT /workflows/both", { body: both });
    const { body } = await api.call("POST /workflows/both/execute", { body: {} });
    const { execution_id: execution } = body;
    return { execution, hr: await openTask(execution, "hr"), pay: await openTask(execution, "pay") };
  }

  it("may not answer this approval at the same time, but may answer it after they have withdrawn their other vote", async () => {
    const { hr, pay } = await openBoth();
    const votes = await Promise.all([hr, pay].map((task) => as("cfo", `POST /tasks/${task}`, yes)));
    expect(votes.map(({ status }) => status).toSorted()).toEqual([200, 403]);
    const [won, lost] = votes[0]?.status === 200 ? [hr, pay] : [pay, hr];
    await expectRefusal(
      as("cfo", `POST /tasks/${lost}`, yes),
      403,
      /^cfo@acme.com has answered "(hr|pay)" and may not/,
    );
    expect((await as("cfo", `POST /tasks/${won}/withdraw`)).status).toBe(200);
    expect((await as("cfo", `POST /tasks/${lost}`, yes)).status).toBe(200);
    await expectRefusal(as("cfo", `POST /tasks/${won}`, yes), 403, /^cfo@acme.com has answered/);
  });

  it("may answer this approval if the process that was storing their other vote died", async () => {
    const { execution, hr, pay } = await openBoth();
    const task = (await api.ports.tasks.find(hr)) ?? expect.unreachable();
    const { scope, seq } = task;
    const claimed = (secondsAgo: number, version: number) => {
      const at = new Date(Date.now() - secondsAgo * 1000).toISOString();
      return api.ports.tasks.putVoter(task, "cfo@acme.com", {
        version,
        claims: [{ node: "hr", scope, seq, after: 0, at }],
      });
    };
    await claimed(0, 0);
    const refusal = /^cfo@acme.com votes on "hr" right now and may not answer "pay" - ask again in a minute, or let/;
    await expectRefusal(as("cfo", `POST /tasks/${pay}`, yes), 403, refusal);
    await claimed(60, 1);
    expect((await as("cfo", `POST /tasks/${pay}`, yes)).status).toBe(200);
    await expectRefusal(as("cfo", `POST /tasks/${hr}`, yes), 403, /^cfo@acme.com has answered "pay"/);
    expect((await api.call(`GET /executions/${execution}/verify`)).body.state).toBe("open");
  });

  it("may not answer this approval, not even in a restart that reuses their answer", async () => {
    await api.call("PUT /workflows/two-steps", { body: twoSteps });
    const { body: run } = await as("starter", "POST /workflows/two-steps/execute", { body: {} });
    const { execution_id: execution } = run;
    await as("cfo", `POST /tasks/${await openTask(execution, "hr")}`, yes);
    const pay = await openTask(execution, "pay");
    const refusal = /^cfo@acme.com has answered "hr" and may not answer "pay" - another approver has to$/;
    await expectRefusal(as("cfo", `POST /tasks/${pay}`, yes), 403, refusal);
    expect((await as("ceo", `POST /tasks/${pay}`, yes)).body.missing).toBe(0);
    await ended(execution);
    const { body: again } = await as("ceo", `POST /executions/${execution}/restart`, { body: { from: "pay" } });
    const second = await openTask(again.execution_id, "pay");
    await expectRefusal(as("cfo", `POST /tasks/${second}`, yes), 403, refusal);
    await expectRefusal(as("ceo", `POST /tasks/${second}`, yes), 403, /^ceo@acme.com started this run/);
    const { body: open } = await api.call(`GET /executions/${again.execution_id}/verify`);
    expect(open.state).toBe("open");
    await api.call(`POST /executions/${again.execution_id}/cancel`);
    const { body: cancelled } = await api.call(`GET /executions/${again.execution_id}/verify`);
    expect(cancelled.state).toBe("anchored");
    await api.call(`POST /executions/${execution}/erase`);
    await expect
      .poll(async () => (await api.call(`GET /executions/${execution}/verify`)).body, { timeout: 20_000 })
      .toMatchObject({
        state: "anchored",
        erased: expect.arrayContaining([expect.objectContaining({ content: "vote" })]),
      });
  });
});
