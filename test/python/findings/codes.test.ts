import { checkNodeCode, codeFindings, importableModules } from "@nova/python";
import { describe, expect, it } from "vitest";
import { explainedIn, severitiesIn } from "../../support/findings-page.ts";
import { template } from "../support/corpus.ts";

it("explains every code, with its severity, in docs/python-findings.md", () => {
  expect(severitiesIn("python-findings.md")).toEqual(codeFindings);
});

/** What the examples of the page find in context. */
const string = { type: "string", size: 1 } as const;
const context = {
  total: { type: "integer" },
  prices: { type: "list", size: 1, item: { type: "number" } },
  lines: { type: "list", size: 1, item: { type: "number" } },
  email: { type: "object", size: 2, members: { from: string, subject: string } },
  email_user: string,
  customer_name: string,
  rules: string,
  words: { type: "list", size: 0 },
} as const;

describe("the examples", () => {
  const modules = importableModules(template);
  it.each(explainedIn("python-findings.md"))("of %s are what they are called", async (code, { bad, good }) => {
    const nodeType = code.startsWith("PY13") ? "decision" : "action";
    const facts = { nodeType, context, modules, lib: ["totals"] } as const;
    const codes = async (source: string) => (await checkNodeCode(source, facts)).map((found) => found.code);
    const whole = code === "PY105" ? bad.replace("...", Array(1000).fill("c").join(" + ")) : bad;
    expect(await codes(whole)).toContain(code);
    expect(await codes(good)).not.toContain(code);
  });
});
