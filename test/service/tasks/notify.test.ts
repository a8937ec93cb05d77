import type { TaskMail, WaitingTask } from "@nova/engine";
import { notifyTask, type ServicePorts } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import type { Notice } from "../../../packages/service/src/ports/triggers.ts";
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
    links: { toTask: () => link, toApi: (path) => `https://api.example.com${path}`, toResume: () => "" },
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
  it("is mailed once to the addresses in `to`, with its message and the ways to answer", async () => {
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

  it("names the page that answers approvals if there is one, and the choices that need data", async () => {
    const forms = { "not now": { required: ["why"] } };
    const { text } = await mailOf({ forms }, "https://nova.example.com/tasks/task_1");
    expect(text).toContain("Answer at https://nova.example.com/tasks/task_1\n");
    expect(text).toContain("--choice approved\n");
    expect(text).toContain("--choice 'not now' --data answer.json");
  });

  it("has a limited size, and its message cannot imitate NOVA's lines or control a terminal", async () => {
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
      "names no address",
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
    ["is another one", { id: "task_2" }],
  ])("is not mailed if it %s", async (_, task) => {
    const event = task.id === undefined ? asked : { ...asked, task_id: task.id };
    expect(await notifyTask(ports(task), event)).toEqual({ told: [] });
    expect([mails, noted]).toEqual([[], []]);
  });

  it("records in its task why the mail failed, and is tried again", async () => {
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

  it("is not tried again if no mailer is configured", async () => {
    const { mailer: _, ...world } = ports();
    expect(await notifyTask(world, asked)).toEqual({ told: [] });
    expect(noted).toMatchObject([
      { problem: expect.stringMatching(/^no mail goes out from here - deploy with NOVA_MAIL_FROM/) },
    ]);
  });
});
