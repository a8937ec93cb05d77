import { type CodeFinding, checkNodeCode } from "@nova/python";
import { describe, expect, it } from "vitest";
import { knownHosts } from "../../../packages/agents/src/agents/code-runner.ts";
import { beginRun, type PipelineParts } from "../../../packages/agents/src/agents/node-run.ts";
import { NodeMeans, sets } from "../../support/pipeline/node-means.ts";
import { pipelineParts } from "../../support/pipeline/parts.ts";
import { play, type Scene } from "../../support/pipeline/play.ts";
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

describe("the list of hosts that generated code may name", () => {
  it.each([
    ["the prompt of the node", "api.task.example"],
    ["the context", "mail.acme.example"],
    ["the context, with capital letters", "Mail.Acme.Example"],
    ["the context, as the first word of a line", "first-line.example"],
    ["the context, inside a mail address", "post.example"],
    ["a text that is stored in a blob", "portal.acme.example"],
    ["the field `network.allow`", "db.acme.example"],
    ["the workflow's own modules", "lib.example"],
    ["the value of a secret", "vault.example"],
  ])("contains a host that is named in %s", async (_, host) => {
    expect(await hosts.names(host)).toBe(true);
  });

  it.each(["acme.example", "imap.acme.example", "localhost", "task.example", "smtp.gmail.com"])(
    "does not contain %s, because no prompt, value or module names exactly this host",
    async (host) => {
      expect(await hosts.names(host)).toBe(false);
    },
  );

  it("contains a host that is named in proven code", async () => {
    const proven = knownHosts(beginRun(task, means.delivery(), pipelineParts()), 'SMTP("smtp.gmail.com")');
    expect(await proven.names("smtp.gmail.com")).toBe(true);
  });

  it("knows whether the context has a key such as `smtp_host`", () => {
    expect([hosts.has("smtp_host"), hosts.has("imap_host")]).toEqual([true, false]);
  });
});

const simple = { role: "input_analyzer", answer: { needs_analysis: false, complexity: "simple" } } as const;
const complex = { role: "input_analyzer", answer: { needs_analysis: true, complexity: "medium" } } as const;
const looks = { role: "data_analyzer", answer: { code: "result = {}" } } as const;
const writes = (code: string) => ({ role: "code_generator", answer: { code } }) as const;
const approves = { role: "output_validator", answer: { valid: true, reason: "done" } } as const;
const missing: CodeFinding = { code: "PY140", line: 1, column: 1, message: "no such module", severity: "error" };

/**
 * Runs a node for which a model writes code once. Returns the facts that the check of this code received, and the
 * recorded step of the check.
 */
async function checked(scene: Partial<Scene>, findings: CodeFinding[] = []) {
  const told: Parameters<PipelineParts["check"]>[1][] = [];
  const check: PipelineParts["check"] = async (_code, about) => {
    told.push(about);
    return findings;
  };
  const lines = [simple, writes("a = 1"), approves];
  const { means } = await play({ lines, runs: [sets({ branch_decision: true })], check, ...scene });
  return { about: told[0], step: means.steps.find(({ agent_name }) => agent_name === "CodeValidator") };
}

describe("the check of generated code", () => {
  it("receives the type of the node, the shape of its input and the modules that the code can import", async () => {
    const { about } = await checked({ task: { workflow: { lib: { "tax.py": "" }, requirements: ["pyyaml"] } } });
    expect(about).toMatchObject({
      nodeType: "action",
      context: { total: { type: "integer" } },
      modules: expect.arrayContaining(["fitz", "PIL", "yaml"]),
      lib: ["tax.py"],
    });
    expect(about).not.toHaveProperty("edges");
  });

  it("receives the values of the outgoing edges of a decision as texts", async () => {
    const { about } = await checked({ task: { type: "decision", conditions: [true, 3, "default"] } });
    expect(about?.edges).toEqual(["true", "3", "default"]);
  });

  it("lets the code read the result of the analysis", async () => {
    const { about } = await checked({
      lines: [complex, looks, writes("a = 1"), approves],
      runs: [sets({ _data_analysis: { result: {} } }), sets({ a: 1 })],
    });
    expect(about?.context).toHaveProperty("_data_analysis", { type: "object" });
  });

  it("refuses code that reads the result of an analysis if there was no analysis", async () => {
    const reads = writes("context['a'] = context['_data_analysis']['rows']");
    const scene = { lines: [simple, reads, reads, reads], check: checkNodeCode };
    const { outcome, means } = await play(scene);
    expect(outcome).toMatchObject({ message: expect.stringContaining('the context has no key "_data_analysis"') });
    expect(means.runs).toEqual([]);
  });

  it("accepts the import of an unknown package if the workflow has requirements", async () => {
    const { step } = await checked({ task: { workflow: { requirements: ["odd-package"] } } }, [missing]);
    expect(step).toMatchObject({ status: "success", output_data: { valid: true, findings: [{ code: "PY140" }] } });
  });

  it("refuses the import of an unknown package if the workflow has no requirements", async () => {
    const lines = [simple, ...["a", "b", "c"].map(writes)];
    const { step } = await checked({ lines, runs: [] }, [missing]);
    expect(step).toMatchObject({ status: "failed", error_message: "line 1: no such module" });
  });
});
