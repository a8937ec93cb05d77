import { checkNodeCode, codeFindings, listImportableModules } from "@nova/python";
import { describe, expect, it } from "vitest";
import { explainedIn, severitiesIn } from "../../support/findings-page.ts";
import { template } from "../support/corpus.ts";

it("docs/python-findings.md explains every code with its severity", () => {
  expect(severitiesIn("python-findings.md")).toEqual(codeFindings);
});

/** The context keys that the examples of the page read. */
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
  const modules = listImportableModules(template);
  it.each(explainedIn("python-findings.md"))("of %s cause the finding, or none", async (code, { bad, good }) => {
    const nodeType = code.startsWith("PY13") ? "decision" : "action";
    const facts = { nodeType, context, modules, lib: ["totals"] } as const;
    const codes = async (source: string) => (await checkNodeCode(source, facts)).map((found) => found.code);
    const whole = code === "PY105" ? bad.replace("...", Array(1000).fill("c").join(" + ")) : bad;
    expect(await codes(whole)).toContain(code);
    expect(await codes(good)).not.toContain(code);
  });
});
