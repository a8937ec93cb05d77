import { readFileSync } from "node:fs";
import { sandboxTemplate } from "@nova/sandbox";
import { templatePackages } from "@nova/workflow";
import { Template } from "e2b";
import { expect, test } from "vitest";
import { promisedModules } from "../../packages/local/src/cloud/python-packages.ts";

type Rendered = {
  fromTemplate: string;
  startCmd?: string;
  steps: { type: string; args: string[]; filesHash?: string }[];
};

async function render(requirements: string[]): Promise<Rendered> {
  return JSON.parse(await Template.toJSON(await sandboxTemplate(requirements)));
}

test("the template extends the code interpreter and keeps its start command", async () => {
  const { fromTemplate, startCmd } = await render([]);
  expect([fromTemplate, startCmd]).toEqual(["code-interpreter-v1", undefined]);
});

test("the template installs its packages and the workflow's, each quoted for the shell", async () => {
  const { steps } = await render(["numpy>=2; python_version > '3.9'"]);
  expect(steps[0]).toMatchObject({ type: "RUN" });
  expect(steps[0]?.args[0]).toBe(
    `pip install 'pymupdf<2' 'pandas<4' 'requests<3' 'pillow<14' 'psycopg[binary]<4' 'numpy>=2; python_version > '\\''3.9'\\'''`,
  );
});

test("the template uses a workflow's version of its own packages", async () => {
  const { steps } = await render(["PyMuPDF == 2.0", "psycopg[binary,pool]>=3.2", "pandas-stubs"]);
  expect(steps[0]?.args[0]).toBe(
    "pip install 'pandas<4' 'requests<3' 'pillow<14' 'PyMuPDF == 2.0' 'psycopg[binary,pool]>=3.2' 'pandas-stubs'",
  );
});

test("the template indexes the docstrings of its packages after installing all", async () => {
  const { steps } = await render(["numpy>=2"]);
  expect(steps.slice(0, 3).map(({ type }) => type)).toEqual(["RUN", "COPY", "RUN"]);
  const [index] = steps[2]?.args ?? [];
  expect(index).toBe("python3 /usr/local/lib/nova/docstrings.py 'numpy>=2' > /usr/local/lib/nova/docstrings.json");
});

test("the template starts a warm Python process as a service, from existing files", async () => {
  const { steps } = await render([]);
  const copied = steps.filter(({ type }) => type === "COPY");
  expect(copied.map(({ args }) => args[0])).toEqual(["docstrings.py", "warm.py", "nova-warm.service"]);
  expect(copied.every(({ filesHash }) => filesHash)).toBe(true);
  expect(steps.at(-1)?.args[0]).toContain("multi-user.target.wants");
});

test("the warm Python process imports the packages of a local sandbox and of the template", () => {
  const warm = readFileSync(new URL("../../packages/sandbox/template/warm.py", import.meta.url), "utf8");
  for (const name of promisedModules) expect(warm).toMatch(new RegExp(`\\b${name}\\b`));
  expect(templatePackages).toHaveLength(promisedModules.length);
});
