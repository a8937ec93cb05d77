import { parseWorkflow, pastTimes } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, mustParse, row } from "../definition.ts";

const now = Date.parse("2026-06-30T12:00:00Z");

function found(trigger: object) {
  return pastTimes(mustParse({ ...row(), triggers: [{ type: "schedule", every: "1d" }, trigger] }), now);
}

const once = (at: string, timezone?: string) => ({ type: "schedule", at, ...(timezone && { timezone }) });

describe("the time of a schedule trigger", () => {
  it.each([
    ["a year ago", once("2025-06-30T12:00")],
    ["a second ago", once("2026-06-30T11:59:59")],
    ["now", once("2026-06-30T12:00")],
    ["a minute ago in Madrid", once("2026-06-30T13:59", "Europe/Madrid")],
    ["a minute ago in New York", once("2026-06-30T07:59", "America/New_York")],
  ])("causes a warning if it was %s", (_, trigger) => {
    expect(found(trigger)).toMatchObject([{ code: "NOVA129", severity: "warning", path: "$.triggers[1].at" }]);
  });

  it.each([
    ["is in a second", once("2026-06-30T12:00:01")],
    ["is in a minute in Madrid", once("2026-06-30T14:01", "Europe/Madrid")],
    ["is in a minute in New York", once("2026-06-30T08:01", "America/New_York")],
    ["is given by a cron expression, which repeats", { type: "schedule", cron: "0 9 ? * MON-FRI 2020-2030" }],
    ["is missing, because the trigger is not a schedule", { type: "mail", address: "invoices" }],
  ])("causes no warning if it %s", (_, trigger) => {
    expect(found(trigger)).toEqual([]);
  });

  it.each([
    ["in years that are over", "0 9 * * ? 2020"],
    ["for the last time today", "0 9 30 6 ? 2026"],
    ["at an hour that the clocks of its zone skip each year", "30 2 ? 3 1L *"],
  ])("causes a warning if its cron expression has no future time, because it was due only %s", (_, cron) => {
    const trigger = { type: "schedule", cron, timezone: "Europe/Madrid" };
    expect(found(trigger)).toMatchObject([{ code: "NOVA129", severity: "warning", path: "$.triggers[1].cron" }]);
  });

  it("causes a warning that names the time and says what to do", () => {
    expect(found(once("2025-06-30T12:00", "Europe/Madrid"))[0]?.message).toBe(
      'trigger "schedule-2" is due at 2025-06-30T12:00:00 (Europe/Madrid), which is in the past - write a future time, or remove the trigger',
    );
  });
});

describe("a workflow without triggers", () => {
  it("gets no warning about times in the past", () => {
    expect(pastTimes(mustParse(row()), now)).toEqual([]);
  });
});

function foundIn(line: string, isSent: boolean): string[] {
  const text = JSON.stringify({ ...row(action("a")), requirements: ["pandas", line] });
  const source = { text, fileName: "workflow.json", files: {}, ...(isSent && ({ isSent } as const)) };
  return parseWorkflow(source).findings.map(({ code, path }) => `${code} ${path}`);
}

const refused = ["NOVA114 $.requirements[1]"];

describe("a line in the field `requirements`", () => {
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
  ])("is accepted if it asks for a package: %s", (line) => {
    expect(foundIn(line, true)).toEqual([]);
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
  ])("is refused if it asks pip for anything but a package: %j", (line) => {
    expect([foundIn(line, false), foundIn(line, true)]).toEqual([refused, refused]);
  });

  it("may name a wheel on this machine, unless the definition is sent to a server", () => {
    const wheel = "/home/ada/my wheels/tiny-1.0-py3-none-any.whl";
    expect([foundIn(wheel, false), foundIn(wheel, true)]).toEqual([[], refused]);
  });

  it("is checked in a time that is linear in its length", () => {
    const spaces = " ".repeat(100_000);
    for (const line of [
      `a${spaces}!`,
      `a[b${spaces}!`,
      `a==1${spaces}!`,
      `a.zip${spaces}!`,
      `${"a-".repeat(50_000)}!`,
    ]) {
      expect(foundIn(line, true)).toEqual(refused);
    }
  });

  it("causes a finding with the problem and an example if it is refused", () => {
    const text = JSON.stringify({ ...row(action("a")), requirements: ["-e ."] });
    const { findings } = parseWorkflow({ text, fileName: "workflow.json", files: {} });
    expect(findings[0]?.message).toBe(
      'requirements: "-e ." is no pip requirement - write a package such as pandas==2.2, with extras and a marker where needed, or name @ https://...',
    );
  });
});
