import { describe, expect, it } from "vitest";
import { knownHosts } from "../../../packages/agents/src/agents/code-runner.ts";
import { beginRun } from "../../../packages/agents/src/agents/node-run.ts";
import { NodeMeans } from "../../support/pipeline/node-means.ts";
import { pipelineParts } from "../../support/pipeline/parts.ts";
import { promptTask } from "../../support/pipeline/prompt-task.ts";

const blob = JSON.stringify({ $blob: { sha256: "a".repeat(64), bytes: 9000, type: "text" } });
const means = new NodeMeans({ texts: { mail: "Please write to\nhttps://portal.acme.example/in." } });
const task = promptTask({
  prompt: "Ask https://api.task.example for the rate",
  context: { smtp_host: "mail.acme.example", note: "first\nfirst-line.example", address: "anna@post.example" },
  slots: { mail: blob },
  executor: { allow: ["db.acme.example:5432"] },
  workflow: { lib: { "rates.py": 'HOST = "lib.example"' } },
  secrets: { host_of_vault: "vault.example" },
});
const hosts = knownHosts(beginRun(task, means.delivery(), pipelineParts()));

describe("a host is known", () => {
  it.each([
    ["the task", "api.task.example"],
    ["the context", "mail.acme.example"],
    ["the context, in capitals", "Mail.Acme.Example"],
    ["the beginning of a line", "first-line.example"],
    ["an address of mail", "post.example"],
    ["a text in a blob", "portal.acme.example"],
    ["network.allow", "db.acme.example"],
    ["the workflow's own modules", "lib.example"],
    ["a secret", "vault.example"],
  ])("from %s", async (_, host) => {
    expect(await hosts.names(host)).toBe(true);
  });

  it.each(["acme.example", "imap.acme.example", "localhost", "task.example", "smtp.gmail.com"])(
    "not if it only resembles %s",
    async (host) => {
      expect(await hosts.names(host)).toBe(false);
    },
  );

  it("if proven code names it", async () => {
    const proven = knownHosts(beginRun(task, means.delivery(), pipelineParts()), 'SMTP("smtp.gmail.com")');
    expect(await proven.names("smtp.gmail.com")).toBe(true);
  });

  it("separately from the keys of the context", () => {
    expect([hosts.has("smtp_host"), hosts.has("imap_host")]).toEqual([true, false]);
  });
});
