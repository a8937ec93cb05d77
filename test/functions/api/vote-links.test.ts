import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sweep } from "@nova/engine";
import { verifyProof } from "@nova/verify";
import PostalMime from "postal-mime";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { expectRefusal, useApi } from "./support/api.ts";

const page = "https://nova.example.com/console/tasks";
const before = process.env.NOVA_LINK_BASE;
beforeAll(() => {
  process.env.NOVA_LINK_BASE = page;
});
afterAll(() => {
  if (before === undefined) delete process.env.NOVA_LINK_BASE;
  else process.env.NOVA_LINK_BASE = before;
});

const api = useApi();

const approvers = { any: ["CFO@acme.com", "ceo@acme.com", "role:finance"], count: 2 };

async function startedTask(fields: object = {}): Promise<string> {
  const nodes = [
    { id: "start", type: "start" },
    { id: "pay", type: "approval", message: "Pay?", choices: ["yes", "no"], approvers, ...fields },
    { id: "end", type: "end" },
  ];
  const edges = [
    { from: "start", to: "pay" },
    { from: "pay", to: "end", condition: "default" },
  ];
  await api.call("PUT /workflows/paying", { body: { id: "paying", nodes, edges } });
  const { body } = await api.call("POST /workflows/paying/execute", { body: {} });
  return (await api.taskOf(body.execution_id)).id;
}

interface Mailed {
  to: string[];
  subject: string;
  text: string;
  token: string | undefined;
}

/** Reads the mails about a task, in the order of their arrival. */
async function mailsAbout(task: string): Promise<Mailed[]> {
  const { execution } = (await api.ports.tasks.find(task)) ?? {};
  const folder = join(api.cloud.dataDir, "mail");
  const files = (await readdir(folder).catch(() => [])).toSorted();
  const mails = await Promise.all(files.map(async (name) => PostalMime.parse(await readFile(join(folder, name)))));
  return mails
    .filter(({ headers }) => headers.some(({ key, value }) => key === "x-nova-execution" && value === execution))
    .map(({ to = [], subject = "", text = "" }) => ({
      to: to.map(({ address = "" }) => address),
      subject,
      text,
      token: new RegExp(`${page}/${task}#vote=(\\S+)`).exec(text)?.[1],
    }));
}

/** Waits until there are `count` mails to this person, and returns the token in the newest mail. */
function tokenOf(task: string, mail: string, count = 1): Promise<string> {
  return vi.waitFor(async () => {
    const own = (await mailsAbout(task)).filter(({ to }) => to.includes(mail));
    expect(own).toHaveLength(count);
    expect(own.at(-1)?.to).toEqual([mail]);
    return own.at(-1)?.token as string;
  }, 20_000);
}

function byLink(request: string, token: string, body?: object, key: string | null = null) {
  return api.call(request, { key, headers: { "nova-vote-link": token }, ...(body && { body }) });
}

async function ballotsOf(task: string): Promise<object[]> {
  const { execution_id } = (await api.call(`GET /tasks/${task}`)).body;
  const { scope, seq } = (await api.ports.tasks.find(task)) ?? { scope: "", seq: 0 };
  const links = await Array.fromAsync(api.ports.chain.links(execution_id, `${scope}/pay@${seq}.(votes)`));
  return links.flatMap(({ entry }) => entry ?? []);
}

const yes = { choice: "yes" };

describe("the link that NOVA mails to an approver", () => {
  it("lets the owner of the address vote once, and the chain and the proof file contain how NOVA proved the voter's identity", async () => {
    const task = await startedTask({ to: ["ceo@acme.com", "desk@acme.com"] });
    const token = await tokenOf(task, "cfo@acme.com");
    const all = await mailsAbout(task);
    expect(all.map(({ to }) => to).toSorted()).toEqual([["ceo@acme.com"], ["cfo@acme.com"], ["desk@acme.com"]]);
    expect(all.find(({ to }) => to[0] === "desk@acme.com")?.token).toBeUndefined();
    const { body: shown } = await byLink(`GET /tasks/${task}`, token);
    expect(shown).toMatchObject({ message: "Pay?", status: "open", voting: { votes: [], refusal: null } });
    await byLink(`GET /tasks/${task}`, token);
    expect(await ballotsOf(task)).toEqual([]);
    const { body: voted } = await byLink(`POST /tasks/${task}`, token, { ...yes, by: "The Chairman" });
    expect(voted).toMatchObject({ missing: 1, sent: false });
    const { body: whole } = await api.call(`GET /tasks/${task}`);
    const key = expect.stringMatching(/^link_[0-9a-f]{64}$/);
    expect(whole.voting.votes).toMatchObject([
      { by: "cfo@acme.com", choice: "yes", claimed: "The Chairman", via: { kind: "mail", key } },
    ]);
    const second = await byLink(`POST /tasks/${task}`, await tokenOf(task, "ceo@acme.com"), yes);
    expect(second.body).toMatchObject({ missing: 0, sent: true });
    const execution = second.body.execution_id;
    await expect
      .poll(async () => (await api.call(`GET /executions/${execution}`)).body.status, { timeout: 20_000 })
      .toBe("completed");
    const { text } = await api.call(`GET /executions/${execution}/proof?contents=all`);
    expect(text).toContain(String.raw`\"via\":{\"kind\":\"mail\",\"key\":\"link_`);
    expect(text).not.toContain(token);
    expect(await verifyProof(text)).toMatchObject({ state: "valid" });
    const forged = text.replaceAll(String.raw`\"name\":\"cfo@acme.com\"`, String.raw`\"name\":\"eve@acme.com\"`);
    expect(await verifyProof(forged)).toMatchObject({ state: "broken" });
    const { body: audit } = await api.call("GET /audit?limit=200");
    expect(audit.items).toContainEqual(
      expect.objectContaining({ action: "task.answered", by: key, detail: { choice: "yes", as: "cfo@acme.com" } }),
    );
  });

  it("is refused after its use, and the approver can withdraw the vote or vote again with the next link that NOVA mails", async () => {
    const task = await startedTask();
    const first = await tokenOf(task, "cfo@acme.com");
    await byLink(`POST /tasks/${task}`, first, yes);
    const used =
      /^this link to "pay" was used at .* and works once - open the newest link that NOVA has mailed to cfo@/;
    for (const request of ["", "/withdraw", "/delegate"])
      await expectRefusal(
        byLink(`POST /tasks/${task}${request}`, first, { "": yes, "/delegate": { to: "x@acme.com" } }[request]),
        409,
        used,
      );
    await expectRefusal(byLink(`GET /tasks/${task}`, first), 409, used);
    expect(await ballotsOf(task)).toHaveLength(1);
    const second = await tokenOf(task, "cfo@acme.com", 2);
    await expectRefusal(byLink(`POST /tasks/${task}`, second, yes), 409, /^cfo@acme.com has voted "yes" on "pay"/);
    expect((await byLink(`POST /tasks/${task}/withdraw`, second)).status).toBe(200);
    const third = await tokenOf(task, "cfo@acme.com", 3);
    for (const old of [first, second]) await expectRefusal(byLink(`POST /tasks/${task}`, old, yes), 409, used);
    expect((await byLink(`POST /tasks/${task}`, third, { choice: "no" })).body.missing).toBe(1);
    expect(await ballotsOf(task)).toHaveLength(3);
  });

  it("leads to one vote if several requests with this link arrive at once", async () => {
    const task = await startedTask();
    const token = await tokenOf(task, "cfo@acme.com");
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        byLink(`POST /tasks/${task}`, token, { choice: index % 2 ? "yes" : "no" }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409]);
    expect(await ballotsOf(task)).toHaveLength(1);
  });

  it("gets the result of the first request if the request is repeated with the same Idempotency-Key", async () => {
    const task = await startedTask();
    const token = await tokenOf(task, "cfo@acme.com");
    const headers = { "nova-vote-link": token, "idempotency-key": "one" };
    const answers = [];
    for (const _ of [1, 2]) answers.push(await api.call(`POST /tasks/${task}`, { key: null, headers, body: yes }));
    expect(answers.map(({ status, body }) => [status, body.missing])).toEqual([
      [200, 1],
      [200, 1],
    ]);
  });

  it("is refused if it was changed, belongs to another task, or is no link", async () => {
    const [task, other] = [await startedTask(), await startedTask()];
    const token = await tokenOf(task, "cfo@acme.com");
    const [, , , mail = "", proof = ""] = token.split("_");
    const eve = Buffer.from("eve@acme.com").toString("base64url");
    const last = proof.at(-1) === "A" ? "B" : "A";
    const wrong = [
      `nova_vl_0_${eve}_${proof}`,
      `nova_vl_1_${mail}_${proof}`,
      `nova_vl_00_${mail}_${proof}`,
      `nova_vl_0_${mail}_${proof.slice(0, -1)}${last}`,
      `nova_vl_0_${mail}`,
      token.toUpperCase(),
      await tokenOf(other, "cfo@acme.com"),
      "x".repeat(5000),
      " ",
    ];
    for (const text of wrong) {
      const refused = /^this link does not belong to task "task_.*" - open it as it was mailed, whole$/;
      await expectRefusal(byLink(`POST /tasks/${task}`, text, yes), 404, refused);
      await expectRefusal(byLink(`GET /tasks/${task}`, text), 404, refused);
    }
    expect(await ballotsOf(task)).toEqual([]);
    const none = `task_${"0".repeat(26)}`;
    await expectRefusal(byLink(`POST /tasks/${none}`, token, yes), 404, /^this link does not belong to task/);
  });

  it("gives access to no other route", async () => {
    const task = await startedTask();
    const token = await tokenOf(task, "cfo@acme.com");
    const { execution } = (await api.ports.tasks.find(task)) ?? {};
    const others = ["GET /tasks", `GET /executions/${execution}`, `POST /executions/${execution}/answer`, "GET /audit"];
    for (const request of others) await expectRefusal(byLink(request, token), 401, /^no valid API key came/);
    await expectRefusal(api.call(`GET /tasks/${task}`, { key: token }), 401, /^no valid API key came/);
  });

  it("is refused if another person is signed in, and is accepted if its owner or a key without an identity is signed in", async () => {
    const task = await startedTask();
    const token = await tokenOf(task, "cfo@acme.com");
    const keyOf = async (identity: string) =>
      (await api.call("POST /keys", { body: { role: "runner", identity } })).body.key;
    const [eve, cfo] = [await keyOf("eve@acme.com"), await keyOf("cfo@acme.com")];
    const sentence =
      /^this link votes as cfo@acme.com, and you are signed in as eve@acme.com - sign out before you open/;
    await expectRefusal(byLink(`GET /tasks/${task}`, token, undefined, eve), 403, sentence);
    await expectRefusal(byLink(`POST /tasks/${task}`, token, yes, eve), 403, sentence);
    await expectRefusal(byLink(`POST /tasks/${task}`, token, yes, "nova_x"), 401, /^no valid API key came/);
    expect(await ballotsOf(task)).toEqual([]);
    expect((await byLink(`GET /tasks/${task}`, token, undefined, await api.key("viewer"))).status).toBe(200);
    expect((await byLink(`POST /tasks/${task}`, token, yes, cfo)).status).toBe(200);
  });

  it("is refused once the approval is answered, with a message that names the answer", async () => {
    const task = await startedTask({ approvers: { any: ["cfo@acme.com", "ceo@acme.com"] } });
    const [cfo, ceo] = [await tokenOf(task, "cfo@acme.com"), await tokenOf(task, "ceo@acme.com")];
    await byLink(`POST /tasks/${task}`, ceo, yes);
    const late = /^"pay" was already answered by ceo@acme.com at .*: yes \(a mailed link\)$/;
    for (const token of [cfo, ceo]) {
      await expectRefusal(byLink(`POST /tasks/${task}`, token, yes), 409, late);
      await expectRefusal(byLink(`GET /tasks/${task}`, token), 409, late);
    }
  });

  it("is refused after its task has expired", async () => {
    const task = await startedTask({ timeout: "1d" });
    const token = await tokenOf(task, "cfo@acme.com");
    const clock = vi.spyOn(api.ports.clock, "now").mockReturnValue(Date.now() + 24 * 3_600_000 + 1000);
    try {
      await expectRefusal(byLink(`POST /tasks/${task}`, token, yes), 409, /^"pay" expired at /);
      await expectRefusal(byLink(`GET /tasks/${task}`, token), 409, /^"pay" expired at /);
    } finally {
      clock.mockRestore();
    }
    expect(await ballotsOf(task)).toEqual([]);
  });

  it("is also mailed to a delegate, who can vote with the link only until the approver withdraws the delegation", async () => {
    const task = await startedTask();
    const cfo = await tokenOf(task, "cfo@acme.com");
    expect((await byLink(`POST /tasks/${task}/delegate`, cfo, { to: "Deputy@acme.com" })).status).toBe(200);
    const deputy = await tokenOf(task, "deputy@acme.com");
    const back = await tokenOf(task, "cfo@acme.com", 2);
    await byLink(`POST /tasks/${task}/withdraw`, back);
    await expectRefusal(byLink(`POST /tasks/${task}`, deputy, yes), 403, /^deputy@acme.com may not answer "pay"/);
    const again = await tokenOf(task, "cfo@acme.com", 3);
    await byLink(`POST /tasks/${task}/delegate`, again, { to: "deputy@acme.com" });
    expect((await byLink(`POST /tasks/${task}`, deputy, yes)).body.missing).toBe(1);
  });

  it("is mailed again, unchanged, with a reminder to people without a vote", async () => {
    const task = await startedTask({ remind: ["1h"] });
    const [cfo, ceo] = [await tokenOf(task, "cfo@acme.com"), await tokenOf(task, "ceo@acme.com")];
    await byLink(`POST /tasks/${task}`, ceo, yes);
    await tokenOf(task, "ceo@acme.com", 2);
    const later = { ...api.ports, clock: { ...api.ports.clock, now: () => Date.now() + 3_700_000 } };
    await sweep(later);
    expect(await tokenOf(task, "cfo@acme.com", 2)).toBe(cfo);
    const reminders = (await mailsAbout(task)).filter(({ subject }) => subject.startsWith("Reminder: "));
    expect(reminders.map(({ to }) => to)).toEqual([["cfo@acme.com"]]);
  });
});
