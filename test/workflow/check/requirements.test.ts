import { parseWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, row } from "../definition.ts";

function found(line: string, isSent: boolean): string[] {
  const text = JSON.stringify({ ...row(action("a")), requirements: ["pandas", line] });
  const source = { text, fileName: "workflow.json", files: {}, ...(isSent && ({ isSent } as const)) };
  return parseWorkflow(source).findings.map(({ code, path }) => `${code} ${path}`);
}

const refused = ["NOVA114 $.requirements[1]"];

describe("a line of requirements", () => {
  it.each([
    "pandas",
    " rich ",
    "zope.interface",
    "pandas==2.2",
    "pandas >= 2, < 3",
    "pandas>=2.0,!=2.1.*,~=2.2",
    "pandas (>=2)",
    "torch==2.1.0+cu118",
    "pytz===2024b",
    "six==1!2.0.post1",
    "psycopg[binary]",
    "psycopg[binary, pool]>=3.1; python_version >= '3.10'",
    'pywin32 ; sys_platform == "win32" and (python_version < "4" or extra == "x")',
    "tiny @ https://example.com/tiny-1.0-py3-none-any.whl",
    "tiny[all] @ https://example.com/tiny.tar.gz#sha256=00 ; python_version > '3'",
  ])("asks for a package: %s", (line) => {
    expect(found(line, true)).toEqual([]);
  });

  it.each([
    "a b c",
    "evil; rm -rf /",
    "\u0000",
    "pandas\u0000",
    "--no-index",
    "-r /etc/hostname",
    "-e .",
    "--index-url https://example.com/simple",
    "pandas --index-url https://example.com",
    "pandas==2.2 --hash=sha256:00",
    "pandas\n-r /etc/hostname",
    "pandas\r-e .",
    "pandas \\",
    "$HOME",
    "tiny @ https://example.com/a b",
    "tiny @ file:///etc/hostname",
    "https://example.com/tiny.whl",
    "git+https://example.com/tiny",
    "# pandas",
    "pandas # frames",
    "pandas==",
    "pandas[",
    ".",
    "./tiny",
    "../tiny.whl",
    "tiny-1.0-py3-none-any.whl",
    "tiny.zip",
    "tiny.tar.gz[all]",
    "tiny/setup.py",
    "/etc/hostname",
    "/tmp",
    "/tmp/a\nb.whl",
  ])("is nothing else to pip: %j", (line) => {
    expect([found(line, false), found(line, true)]).toEqual([refused, refused]);
  });

  it("names a wheel of this machine in a folder that lies here, and in nothing that was sent", () => {
    const wheel = "/home/ada/my wheels/tiny-1.0-py3-none-any.whl";
    expect([found(wheel, false), found(wheel, true)]).toEqual([[], refused]);
  });

  it("is read at once however long it is", () => {
    const spaces = " ".repeat(100_000);
    for (const line of [
      `a${spaces}!`,
      `a[b${spaces}!`,
      `a==1${spaces}!`,
      `a.zip${spaces}!`,
      `${"a-".repeat(50_000)}!`,
    ]) {
      expect(found(line, true)).toEqual(refused);
    }
  });

  it("says what is wrong and how a line is written", () => {
    const text = JSON.stringify({ ...row(action("a")), requirements: ["-e ."] });
    const { findings } = parseWorkflow({ text, fileName: "workflow.json", files: {} });
    expect(findings[0]?.message).toBe(
      'requirements: "-e ." is no pip requirement - write a package such as pandas==2.2, with extras and a marker where needed, or name @ https://...',
    );
  });
});
