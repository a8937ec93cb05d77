import { createCredentials, type Execution, type TaskMail, type WaitingTask } from "@nova/engine";
import { notifyFailure, notifyTask, type ServicePorts } from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { serviceFunctions } from "../../../functions/index.ts";
import { signatureProblem } from "../../../packages/service/src/hooks/signature.ts";
import type { Notice } from "../../../packages/service/src/ports/triggers.ts";
import { MemoryCredentials, mirrorCipher } from "../../support/credentials.ts";
import { personOf } from "../../support/engine/people.ts";
import { MemoryAttempts } from "../support/stores.ts";

const waiting: WaitingTask = {
  format: 1,
  id: "task_1",
  execution: "exec_1",
  scope: "",
  seq: 2,
  client: "acme",
  workflowId: "pay",
  version: 3,
  node: "boss",
  kind: "approval",
  message: "Pay 850.0 to Zoë?",
  choices: ["approved", "not now"],
  to: ["boss@example.com", "accounting", "boss@example.com"],
  status: "open",
  createdAt: "2026-11-22T08:00:00.000Z",
  expiresAt: "2026-11-25T08:00:00.000Z",
};
const asked = { execution_id: "exec_1", task_id: "task_1" };

let mails: Notice[];
let noted: TaskMail[];
let down: Error | undefined;
let attempts: MemoryAttempts;

beforeEach(() => {
  [mails, noted, down, attempts] = [[], [], undefined, new MemoryAttempts()];
});

function ports(task: Partial<WaitingTask> = {}, link = "nova approve task_1 --choice approved"): ServicePorts {
  const made: Partial<ServicePorts> = {
    attempts,
    tasks: {
      get: async ({ id }: { id: string }) => (id === waiting.id ? { ...waiting, ...task } : undefined),
      noteMail: async (_: object, mail: TaskMail) => void noted.push(mail),
    } as never,
    clients: {
      get: async (slug: string) => (slug === "acme" ? { mailFrom: "pay@acme.example.com" } : undefined),
    } as never,
    links: {
      toVote: (_, token) => `https://nova.example.com/tasks/task_1#vote=${token}`,
      toTask: () => link,
      toApi: (path) => `https://api.example.com${path}`,
      toResume: () => "",
    },
    mailer: {
      async send(notice) {
        if (down) throw down;
        mails.push(notice);
      },
    },
    clock: { now: () => Date.parse("2026-11-22T08:00:02Z"), sleep: async () => undefined },
  };
  return made as ServicePorts;
}

async function mailOf(task: Partial<WaitingTask>, link?: string): Promise<Notice> {
  await notifyTask(ports(task, link), asked);
  return mails[0] as Notice;
}

describe("an approval", () => {
  it("is mailed once to the addresses in its field `to`, with its message and with the commands and the request that answer it", async () => {
    expect(await notifyTask(ports(), asked)).toEqual({ told: ["mail"] });
    await notifyTask(ports(), asked);
    expect(mails).toHaveLength(1);
    const { to, from, subject, text } = mails[0] as Notice;
    expect([to, from]).toEqual([["boss@example.com"], "pay@acme.example.com"]);
    expect(subject).toBe("NOVA: pay waits for an answer (acme)");
    expect(text.split("\n")).toEqual(
      expect.arrayContaining([
        "> Pay 850.0 to Zoë?",
        "choices    approved, not now",
        "    nova approve task_1 --choice approved",
        "    nova approve task_1 --choice 'not now'",
        '    POST https://api.example.com/tasks/task_1 {"choice": ..., "data": ...}',
      ]),
    );
    expect(noted.at(-1)).toEqual({ to: ["boss@example.com"], at: "2026-11-22T08:00:02.000Z" });
  });

  it("is mailed with the URL of the page for the answer if there is one, and with the choices that need data", async () => {
    const forms = { "not now": { required: ["why"] } };
    const { text } = await mailOf({ forms }, "https://nova.example.com/tasks/task_1");
    expect(text).toContain("Answer at https://nova.example.com/tasks/task_1\n");
    expect(text).toContain("--choice approved\n");
    expect(text).toContain("--choice 'not now' --data answer.json");
  });

  it("is mailed in a limited size, and its message cannot imitate NOVA's own lines or control a terminal", async () => {
    const message = "Pay?\r\nBcc: eve@example.com\r\rAnswer at https://evil.example.com\u001b[2J\u202e";
    const { text, subject } = await mailOf({ message, workflowId: "pay\r\nBcc: eve@example.com" });
    expect(subject).toBe("NOVA: pay Bcc: eve@example.com waits for an answer (acme)");
    expect(text).toContain("\n> Pay?\n> Bcc: eve@example.com\n> \n> Answer at https://evil.example.com [2J \n");
    mails = [];
    attempts = new MemoryAttempts();
    expect((await mailOf({ choices: Array.from({ length: 9_000 }, (_, n) => `choice ${n}`) })).text.length).toBe(
      20_000,
    );
  });

  it.each<[string, Partial<WaitingTask>]>([
    ["names no recipient", { to: [] }],
    [
      "names no valid mail address",
      {
        to: [
          "boss",
          "a@b@c",
          "a b@c.de",
          "a\u0000@b.c",
          "a@b.c\r\nBcc: d@e.f",
          "a@b.c, d@e.f",
          `${"a".repeat(400)}@b.c`,
        ],
      },
    ],
    ["is answered", { status: "answered" }],
    ["is not an approval", { kind: "event" }],
    ["has expired", { expiresAt: "2026-11-22T08:00:01.000Z" }],
    ["is not the task that the event names", { id: "task_2" }],
  ])("is not mailed if it %s", async (_, task) => {
    const event = task.id === undefined ? asked : { ...asked, task_id: task.id };
    expect(await notifyTask(ports(task), event)).toEqual({ told: [] });
    expect([mails, noted]).toEqual([[], []]);
  });

  it("is posted once to the URLs in its field `notify`, with a link, but without a token that can answer", async () => {
    const posts: { url: string; body: string }[] = [];
    const made = ports(
      { to: [], notify: ["https://hooks.example.com/a", "https://hooks.example.com/a"] },
      "https://nova.example.com/tasks/task_1",
    );
    made.poster = { post: async ({ url, body }) => void posts.push({ url, body }) };
    expect(await notifyTask(made, asked)).toEqual({ told: ["webhook https://hooks.example.com/a"] });
    await notifyTask(made, asked);
    expect(posts.map(({ url }) => url)).toEqual(["https://hooks.example.com/a"]);
    expect(JSON.parse(posts[0]?.body ?? "")).toEqual({
      type: "approval.waiting",
      task_id: "task_1",
      execution_id: "exec_1",
      workflow: "pay",
      version: waiting.version,
      client: "acme",
      node: "boss",
      message: "Pay 850.0 to Zoë?",
      choices: ["approved", "not now"],
      expires_at: "2026-11-25T08:00:00.000Z",
      link: "https://nova.example.com/tasks/task_1",
    });
    await notifyTask(made, { ...asked, reminder: 1 });
    expect(posts).toHaveLength(1);
  });

  it("is posted again if a request failed, while its mail is not sent twice", async () => {
    const made = ports({ notify: ["https://hooks.example.com/a"] });
    let isDown = true;
    made.poster = { post: async () => (isDown ? Promise.reject(new Error("the server answered 500")) : undefined) };
    await expect(notifyTask(made, asked)).rejects.toThrow("the server answered 500");
    isDown = false;
    expect(await notifyTask(made, asked)).toEqual({ told: ["mail", "webhook https://hooks.example.com/a"] });
    expect(mails).toHaveLength(1);
  });

  it("is mailed again once for each reminder", async () => {
    await notifyTask(ports(), asked);
    for (const reminder of [1, 1, 2]) await notifyTask(ports(), { ...asked, reminder });
    expect(mails.map(({ subject }) => subject)).toEqual([
      "NOVA: pay waits for an answer (acme)",
      "Reminder: NOVA: pay waits for an answer (acme)",
      "Reminder: NOVA: pay waits for an answer (acme)",
    ]);
  });

  it("is mailed a second time if the first mail failed, and its task shows the reason of the failure", async () => {
    down = new Error(`SES refused it: ${"x".repeat(900)}`);
    await expect(notifyTask(ports(), asked)).rejects.toThrow("SES refused it");
    expect(noted).toEqual([expect.objectContaining({ problem: expect.stringMatching(/^SES refused it: x{484}$/) })]);
    down = undefined;
    await notifyTask(ports(), asked);
    expect([mails.length, noted.at(-1)?.problem]).toEqual([1, undefined]);
  });

  it("is mailed once even if its task cannot be updated", async () => {
    const first = ports();
    first.tasks.noteMail = () => Promise.reject(new Error("the table is away"));
    await expect(notifyTask(first, asked)).rejects.toThrow("the table is away");
    expect(await notifyTask(ports(), asked)).toEqual({ told: ["mail"] });
    expect([mails.length, noted.length]).toEqual([1, 1]);
  });

  it("is not mailed if no mailer is configured, and its task shows that reason", async () => {
    const { mailer: _, ...world } = ports();
    expect(await notifyTask(world, asked)).toEqual({ told: [] });
    expect(noted).toMatchObject([
      {
        problem: expect.stringMatching(
          /^NOVA sends no mail, because it has no sender address - deploy with NOVA_MAIL_FROM/,
        ),
      },
    ]);
  });
});

describe("an approval with approvers", () => {
  const approvers = { any: ["cfo@acme.com", "ceo@acme.com", "role:finance"], count: 2, not: [] };
  const ballot = (kind: string, by: string, more: object = {}) => ({ kind, by: personOf(by), ...more });
  const viaLink = { via: { kind: "mail", key: "link_1" } };

  /**
   * Returns ports whose chain has these votes, withdrawals and delegations for the approval. `page`: the URL of the
   * page with the task, or null.
   */
  function voting(
    ballots: object[] = [],
    page: string | null = "https://nova.example.com/tasks/task_1",
    not: string[] = [],
  ) {
    const made = ports(
      { approvers: { ...approvers, not }, to: ["desk@example.com", "CEO@acme.com"] },
      page ?? undefined,
    );
    made.signer = { sign: async (text) => `signed ${text}`, verify: async () => true };
    if (page === null) made.links.toVote = () => undefined;
    const entries = ballots.map((one) => ({
      head: JSON.stringify({ path_taken: "boss", digests: {} }),
      hash: "h",
      contents: { vote: { text: JSON.stringify(one) } },
    }));
    made.chain = {
      links: async function* () {
        for (const [index, entry] of entries.entries()) yield { seq: index + 1, entry };
      },
    } as never;
    return made;
  }

  const told = () => mails.map(({ to, text }) => [to.join(), /#vote=nova_vl_(\d+)/.exec(text)?.[1]]);

  it("mails each approver a personal link, and tells all other recipients how to answer with an API key", async () => {
    for (const _ of [1, 2]) expect(await notifyTask(voting(), asked)).toEqual({ told: ["mail"] });
    expect(told()).toEqual([
      ["desk@example.com", undefined],
      ["cfo@acme.com", "0"],
      ["ceo@acme.com", "0"],
    ]);
    const text = mails[1]?.text ?? "";
    expect(text).toContain("The link votes as cfo@acme.com, once. Give it to nobody. Opening it answers nothing.");
    expect(text).not.toContain("nova approve");
    expect(new Set(mails.map((mail) => /#vote=\S+/.exec(mail.text)?.[0])).size).toBe(3);
    expect(noted.at(-1)?.to).toEqual(["desk@example.com", "cfo@acme.com", "ceo@acme.com"]);
  });

  it("mails a reminder with the same link only to people who have not voted", async () => {
    await notifyTask(voting(), asked);
    await notifyTask(voting([ballot("vote", "cfo", { choice: "approved" })]), { ...asked, reminder: 1 });
    expect(told().slice(3)).toEqual([
      ["desk@example.com", undefined],
      ["ceo@acme.com", "0"],
    ]);
    expect(/#vote=\S+/.exec(mails[4]?.text ?? "")).toEqual(/#vote=\S+/.exec(mails[2]?.text ?? ""));
  });

  it("mails the next link to a person who has used a link, and a first link to a delegate", async () => {
    const used = { ...ballot("vote", "cfo"), by: { ...personOf("cfo"), ...viaLink } };
    await notifyTask(voting([used]), { ...asked, link_for: "cfo@acme.com" });
    expect(mails[0]?.text).toContain("NOVA has stored what you decided with your last link.");
    expect(mails[0]?.subject).toBe("NOVA: your decision on pay is stored (acme)");
    await notifyTask(voting([ballot("delegation", "ceo", { to: "dan@acme.com" })]), {
      ...asked,
      link_for: "dan@acme.com",
    });
    await notifyTask(voting(), { ...asked, link_for: "eve@acme.com" });
    expect(told()).toEqual([
      ["cfo@acme.com", "1"],
      ["dan@acme.com", "0"],
    ]);
  });

  it("mails no link to a person whom `not` excludes, unless this person asks for a link", async () => {
    const made = voting([], undefined, ["starter"]);
    const starter = { text: JSON.stringify(personOf("cfo")) };
    const entry = { head: JSON.stringify({ digests: { starter: "d" } }), hash: "h", contents: { starter } };
    made.chain.read = async () => ({ entry }) as never;
    await notifyTask(made, asked);
    expect(told().map(([to]) => to)).toEqual(["desk@example.com", "ceo@acme.com"]);
    await notifyTask(made, { ...asked, link_for: "cfo@acme.com" });
    expect(told().at(-1)).toEqual(["cfo@acme.com", "0"]);
  });

  it("tells approvers how to answer with an API key if there is no page for votes", async () => {
    await notifyTask(voting([], null), asked);
    expect(told()).toEqual([["desk@example.com,ceo@acme.com,cfo@acme.com", undefined]]);
  });

  it("mails the other approvers if one mail fails, and repeats only the failed mail", async () => {
    const made = voting();
    const send = made.mailer?.send;
    made.mailer = {
      send: (notice) =>
        (notice.to.includes("cfo@acme.com")
          ? Promise.reject(new Error("no such mailbox"))
          : send?.(notice)) as Promise<void>,
    };
    await expect(notifyTask(made, asked)).rejects.toThrow("no such mailbox");
    expect(told().map(([to]) => to)).toEqual(["desk@example.com", "ceo@acme.com"]);
    expect(noted.at(-1)?.problem).toBe("no such mailbox");
    await notifyTask(voting(), asked);
    expect(told().map(([to]) => to)).toEqual(["desk@example.com", "ceo@acme.com", "cfo@acme.com"]);
  });
});

describe("a failed run", () => {
  const record = {
    id: "exec_1",
    workflowId: "pay",
    version: 3,
    client: "acme",
    status: "failed",
    startedAt: "2026-11-22T08:00:00.000Z",
    endedAt: "2026-11-22T08:00:01.000Z",
    error: { node: "charge", class: "NodeFailed", message: "no money" },
  } as Execution;

  interface Told {
    mails: { to: string[]; subject: string; text: string }[];
    posts: { url: string; body: string; headers: Record<string, string> }[];
  }

  let told: Told;
  let attempts: MemoryAttempts;
  let now: number;
  let credentials: MemoryCredentials;
  let credentialParts: Parameters<typeof createCredentials>[0];

  beforeEach(() => {
    told = { mails: [], posts: [] };
    attempts = new MemoryAttempts();
    now = Date.parse("2026-11-22T08:00:02Z");
    credentials = new MemoryCredentials();
    const unused = async () => Promise.reject(new Error("no token is asked for"));
    credentialParts = {
      store: credentials,
      cipher: mirrorCipher(),
      now: () => now,
      sleep: async () => undefined,
      fetch: unused,
    };
  });

  interface World {
    workflow?: OnFailure;
    client?: OnFailure;
    mailFrom?: string;
    status?: Execution["status"];
    /** URL of a server that accepts no request. */
    down?: string;
  }

  function ports({ workflow, client, mailFrom, status = "failed", down }: World): ServicePorts {
    const made = {
      attempts,
      executions: { get: async (id: string) => (id === record.id ? { ...record, status } : undefined) },
      workflows: { get: async () => ({ workflow: workflow ? { onFailure: workflow } : {} }) },
      clients: { get: async () => (client || mailFrom) && { onFailure: client, mailFrom } },
      credentials: createCredentials(credentialParts),
      mailer: { send: async (notice: Told["mails"][number]) => void told.mails.push(notice) },
      links: {
        toApi: (path: string) => (path === "/executions/exec_1" ? "https://api.example.com/executions/exec_1" : path),
      },
      poster: {
        async post(request: Told["posts"][number]) {
          if (request.url === down) throw new RangeError(`${down} is down`);
          told.posts.push(request);
        },
      },
      clock: { now: () => now, sleep: async () => undefined },
    };
    return made as unknown as ServicePorts;
  }

  const run = { execution_id: "exec_1" };
  const hook = (url: string, secret?: string): OnFailure => ({
    webhook: { url, ...(secret !== undefined && { secret }) },
  });

  it("is reported with the URL of its page", async () => {
    await notifyFailure(ports({ workflow: { mail: ["ops@example.com"] } }), run);
    expect(told.mails[0]?.text).toContain("GET https://api.example.com/executions/exec_1 ");
  });

  it("is reported to the webhook if no mailer is configured, and the report by mail fails with a clear message", async () => {
    const { mailer: _, ...world } = ports({
      workflow: { mail: ["ops@example.com"], ...hook("https://a.example.com/x") },
    });
    await expect(notifyFailure(world, run)).rejects.toThrow("NOVA sends no mail, because it has no sender address");
    expect(told.posts).toHaveLength(1);
  });

  it.each([
    ["pay@acme.example.com", { from: "pay@acme.example.com" }],
    ["", {}],
  ])(
    "is reported by a mail from the client's sender address %j, or from NOVA's address if the client has no address",
    async (mailFrom, from) => {
      await notifyFailure(ports({ workflow: { mail: ["ops@example.com"] }, mailFrom }), run);
      expect(told.mails).toEqual([
        {
          about: { execution: "exec_1", client: "acme" },
          to: ["ops@example.com"],
          subject: expect.anything(),
          text: expect.anything(),
          ...from,
        },
      ]);
    },
  );

  it("is reported once to each recipient that its workflow or its client names", async () => {
    const workflow = { mail: ["ops@example.com", "anna@example.com"], ...hook("https://a.example.com/x") };
    const client = { mail: ["anna@example.com"], ...hook("https://b.example.com/y") };
    const world = ports({ workflow, client });
    const everybody = ["mail", "webhook https://a.example.com/x", "webhook https://b.example.com/y"];
    expect(await notifyFailure(world, run)).toEqual({ told: everybody });
    await notifyFailure(world, run);
    expect(told.mails).toMatchObject([
      { to: ["ops@example.com", "anna@example.com"], subject: "NOVA: pay failed (acme)" },
    ]);
    expect(told.mails[0]?.text).toContain("error      NodeFailed: no money");
    expect(told.posts.map(({ url }) => url)).toEqual(["https://a.example.com/x", "https://b.example.com/y"]);
  });

  it("is posted with its error, and without its context", async () => {
    await notifyFailure(ports({ workflow: hook("https://a.example.com/x") }), run);
    expect(JSON.parse(told.posts[0]?.body ?? "")).toEqual({
      type: "execution.failed",
      execution_id: "exec_1",
      workflow: "pay",
      version: 3,
      client: "acme",
      status: "failed",
      started_at: record.startedAt,
      ended_at: record.endedAt,
      error: record.error,
    });
    expect(told.posts[0]?.headers).toEqual({ "content-type": "application/json" });
  });

  it("is posted with a signature that a webhook trigger accepts", async () => {
    await credentials.have({ workflow: "pay" }, "pager", "custom", { key: "s3cret" });
    await notifyFailure(ports({ workflow: hook("https://a.example.com/x", "pager") }), run);
    const { body, headers } = told.posts[0] as Told["posts"][number];
    const signature = {
      header: "x-nova-signature",
      secret: "pager",
      algorithm: "sha256",
      toleranceSeconds: 60,
    } as const;
    const signed = {
      value: headers["x-nova-signature"],
      body: Buffer.from(body),
      nowMs: Date.parse("2026-11-22T08:00:05Z"),
    };
    expect(signatureProblem(signature, ["s3cret"], signed)).toBeUndefined();
    expect(signatureProblem(signature, ["other"], signed)).toBe("its signature is wrong");
  });

  it("is posted to the client's webhook with a signature by the client's credential, never by the workflow's credential", async () => {
    await credentials.have({ workflow: "pay" }, "pager", "custom", { key: "shared" });
    await credentials.have({ client: "acme" }, "own", "custom", { key: "s3cret" });
    await notifyFailure(ports({ client: hook("https://a.example.com/x", "own") }), run);
    expect(told.posts[0]?.headers["x-nova-signature"]).toBeDefined();
    const stolen = notifyFailure(ports({ client: hook("https://evil.example.com/x", "pager") }), run);
    await expect(stolen).rejects.toThrow('client "acme" has no credential "pager"');
    expect(told.posts).toHaveLength(1);
  });

  it("is posted with the workflow's signature to the workflow's URL, even if a client names the same URL", async () => {
    await credentials.have({ workflow: "pay" }, "pager", "custom", { key: "s3cret" });
    await credentials.have({ client: "acme" }, "own", "custom", { key: "another" });
    const url = "https://a.example.com/x";
    const isTold = async (client: OnFailure) => {
      const before = told.posts.length;
      await notifyFailure(ports({ workflow: hook(url, "pager"), client }), run);
      return told.posts.slice(before).map(({ headers }) => headers["x-nova-signature"]);
    };
    const [own, ...further] = await isTold(hook(url));
    expect([own, further]).toEqual([expect.stringContaining("v2="), []]);
    attempts = new MemoryAttempts();
    const both = await isTold(hook(url, "own"));
    expect(new Set(both).size).toBe(2);
    expect(both).toContain(own);
  });

  it("is posted with a signature that the webhook check of no vendor accepts, even if the vendor has the same secret", async () => {
    await credentials.have({ workflow: "pay" }, "stripe", "custom", { key: "s3cret" });
    await notifyFailure(ports({ workflow: hook("https://a.example.com/x", "stripe") }), run);
    const { body, headers } = told.posts[0] as Told["posts"][number];
    const [, time, digest = ""] = /^t=(\d+),v2=([0-9a-f]{64})$/.exec(headers["x-nova-signature"] ?? "") ?? [];
    const bodies = [body, `${time}.${body}`, `x-nova-signature${body}`, `x-nova-signature${time}.${body}`];
    const vendors = [
      { header: "stripe-signature", toleranceSeconds: 300, value: `t=${time},v1=${digest}` },
      { header: "stripe-signature", toleranceSeconds: 300, value: `t=${time},v2=${digest}` },
      { header: "x-hub-signature-256", prefix: "sha256=", value: `sha256=${digest}` },
      { header: "x-shopify-hmac-sha256", value: Buffer.from(digest, "hex").toString("base64") },
    ];
    for (const { value, ...vendor } of vendors) {
      const signature = { ...vendor, secret: "stripe", algorithm: "sha256" } as const;
      for (const text of bodies) {
        const signed = { value, body: Buffer.from(text), nowMs: now };
        expect(signatureProblem(signature, ["s3cret"], signed), `${vendor.header} ${text}`).toBeDefined();
      }
    }
  });

  it("is reported to the reachable recipients first, and to an unreachable recipient later", async () => {
    const [workflow, client] = [
      { mail: ["ops@example.com"], ...hook("https://a.example.com/x") },
      hook("https://b.example.com/y"),
    ];
    const world = { workflow, client };
    const failed = notifyFailure(ports({ ...world, down: "https://a.example.com/x" }), run);
    await expect(failed).rejects.toThrow("https://a.example.com/x is down");
    expect([told.mails.length, told.posts.length]).toEqual([1, 1]);
    await notifyFailure(ports(world), run);
    expect(told.mails).toHaveLength(1);
    expect(told.posts.map(({ url }) => url)).toEqual(["https://b.example.com/y", "https://a.example.com/x"]);
  });

  it("is not reported twice to a slow recipient while the first report may be in progress", async () => {
    const world = ports({ workflow: hook("https://a.example.com/x") });
    let posts = 0;
    world.poster.post = () => new Promise(() => posts++);
    void notifyFailure(world, run);
    await vi.waitFor(() => expect(posts).toBe(1));
    world.poster.post = async () => void posts++;
    now += serviceFunctions["nova-notify"].timeoutSeconds * 1000;
    await expect(notifyFailure(world, run)).rejects.toThrow(/is under way/);
    expect(posts).toBe(1);
  });

  it.each<[string, World, object]>([
    ["if no recipient is named", {}, run],
    ["if a user cancelled it", { workflow: { mail: ["a@b.c"] }, status: "cancelled" }, run],
    ["if it runs inside another run", { workflow: { mail: ["a@b.c"] } }, { ...run, parent_execution_id: "exec_0" }],
    ["if its record is gone", { workflow: { mail: ["a@b.c"] } }, { execution_id: "exec_2" }],
  ])("is not reported %s", async (_, world, event) => {
    expect(await notifyFailure(ports(world), event as typeof run)).toEqual({ told: [] });
    expect(told).toEqual({ mails: [], posts: [] });
  });
});
