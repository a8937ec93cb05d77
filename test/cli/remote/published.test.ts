import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { useApi } from "../../functions/api/support/api.ts";
import { inARow } from "../../support/cloud.ts";
import { useServer } from "../support/on-server.ts";

const api = useApi();
const { nova, onServer } = useServer(api);
const code = `context["pdf"] = b"\\x00\\x01" * 9\ncontext["deep"] = {"texts": ["x" * 300000, context["n"]]}`;
const triggers = [
  { type: "schedule", id: "nightly", cron: "0 8 ? * MON-FRI *", timezone: "Europe/Berlin" },
  { type: "schedule", id: "often", every: "5m" },
];
/**
 * An object of user data that looks exactly like a reference to a blob. `own` also contains an object with the key
 * `$blob` that does not look like a reference.
 */
const alike = `{"$blob":{"sha256":"${"0".repeat(64)}","bytes":1,"type":"json"}}`;
const own = `own={"like":${alike},"not":{"$blob":1}}`;
let folder: string;
/** The id of the run that the first test makes. */
let id: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-published-"));
  await writeFile(
    file("report.json"),
    JSON.stringify({ ...inARow("report", { work: code }), name: "Monthly report", triggers }),
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function file(name: string): string {
  return join(folder, name);
}

describe("a published workflow", () => {
  it("can be started by its id, keeps every digit, and is reported like a run of a folder", async () => {
    await onServer("publish", file("report.json"));
    const { code, out, err } = await onServer(
      "start",
      "report",
      "--set",
      "n=12345678901234567890",
      "--set",
      own,
      "--json",
    );
    expect([code, err]).toEqual([0, expect.stringMatching(/^exec_.* is accepted\n$/)]);
    expect(out).toContain('"n":12345678901234567890');
    ({ execution_id: id } = JSON.parse(out));
    const here = await nova("start", "report", "--set", "n=1", "--of", "1");
    expect(here.out).toMatch(/✓ work[\s\S]*completed report version 1/);
  });

  it("is started with --no-wait, which prints only the id of the run", async () => {
    const { out } = await onServer("start", "report", "--set", "n=1", "--no-wait");
    expect(out).toMatch(/^exec_\w+$/);
    expect((await nova("start", "nothing", "--json")).out).toMatch(/"status":"invalid".*there is no workflow/);
  });

  it.each<[string, () => string[], string | RegExp]>([
    ["a number by a dot path, digit for digit", () => ["get", id, "deep.texts.1"], "12345678901234567890"],
    ["a large text inside a value", () => ["get", id, "deep"], /^\{"texts":\["x{300000}",12345678901234567890\]\}$/],
    ["keys that look like references, as they were written", () => ["get", id, "own.not"], '{"$blob":1}'],
    ["a value under a key that looks like a reference", () => ["get", id, "own.not.$blob"], "1"],
    [
      "an object that would be a reference without its additional $",
      () => ["get", id, "own.like"],
      alike.replace("$", "$$$$"),
    ],
    [
      "the size and hash of a file",
      () => ["get", id, "pdf", "--json"],
      /"key":"pdf","bytes":18,"sha256":"[0-9a-f]{64}"/,
    ],
    ["versions", () => ["versions", "report", "--json"], /"version":1,"status":"ready","active":true/],
    ["workflows", () => ["versions"], /report +Monthly report +1 +1 +ready/],
    ["pinned code", () => ["pins", "report"], 'no code of "report" is pinned'],
    ["schedules for people", () => ["schedules"], /nightly .*cron\(0 8 \? \* MON-FRI \*\) +\S+ 08:00 Europe\/Berlin/],
    ["schedules", () => ["schedules", "list", "report", "--json"], /"trigger":"often",.*"next_at":"/],
  ])("has the same output on this machine and on a server for %s", async (_, argvFor, expected) => {
    const [there, here] = [await onServer(...argvFor()), await nova(...argvFor())];
    expect(there).toEqual(here);
    expect(there).toMatchObject({ code: 0, err: "" });
    expect(there.out).toMatch(expected);
  });

  it("has runs whose values `nova get` saves byte for byte, and whose keys it lists if a key is unknown", async () => {
    expect((await onServer("get", id, "pdf", "--into", file("out.pdf"))).out).toContain("out.pdf has pdf of");
    expect(await readFile(file("out.pdf"))).toEqual(Buffer.from("\0\x01".repeat(9)));
    const again = ["get", id, "deep.texts.1", "--into", file("out.pdf")];
    expect(await onServer(...again)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/out.pdf" exists - .*--force/),
    });
    expect(await readFile(file("out.pdf"))).toHaveLength(18);
    expect((await onServer(...again, "--force")).out).toContain("out.pdf has deep.texts.1");
    const saved = await onServer("get", id, "deep.texts.0", "--into", file("text.txt"));
    expect(saved.out).toContain(", 300000 bytes");
    expect(await readFile(file("text.txt"), "utf8")).toBe("x".repeat(300_000));
    await onServer("get", id, "deep", "--into", file("deep.json"));
    expect(await readFile(file("deep.json"), "utf8")).toMatch(/^\{"texts":\["x+",12345678901234567890\]\}\n$/);
    expect((await nova("get", id, "pd")).err).toMatch(/has no "pd" - it has: .*pdf/);
  });

  it("can set files in its context, which nova get does not print to a terminal", async () => {
    const before = process.stdout.isTTY;
    process.stdout.isTTY = true;
    const { code, out, err } = await nova("get", id, "pdf");
    process.stdout.isTTY = before;
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/"pdf" is a file of 18 bytes, not for a terminal - nova get exec_\w+ pdf --into pdf/);
  });

  it("can be rolled back to an older version, and a user can activate the newer version afterwards", async () => {
    await writeFile(
      file("report.json"),
      JSON.stringify({ ...inARow("report", { work: "context['v'] = 2" }), triggers }),
    );
    await onServer("publish", file("report.json"));
    const rolled = await onServer("rollback", "report", "--json");
    expect(JSON.parse(rolled.out)).toEqual({ id: "report", active_version: 1, previous_version: 2 });
    expect((await nova("rollback", "report")).err).toContain("has no previous version");
    expect((await nova("activate", "report", "2")).out).toBe("report: new runs use version 2");
    expect((await nova("activate", "report", "9")).err).toContain("`nova versions report` lists them");
  });

  it("is rolled back to the previous version, but never to a version that was itself rolled back", async () => {
    await nova("activate", "report", "1");
    await writeFile(
      file("report.json"),
      JSON.stringify({ ...inARow("report", { work: "context['v'] = 3" }), triggers }),
    );
    await onServer("publish", file("report.json"));
    expect((await onServer("rollback", "report")).out).toBe("report: new runs use version 1, no longer 3");
    expect((await onServer("rollback", "report")).err).toContain("new runs used none before version 1");
    await nova("activate", "report", "2");
  });

  it("is not published if two of the files that the user names define the same workflow", async () => {
    await writeFile(file("other.json"), JSON.stringify(inARow("other", { work: "x = 1" })));
    await writeFile(file("copy.json"), JSON.stringify(inARow("report", { work: "x = 1" })));
    const paths = [file("report.json"), file("copy.json")];
    const { code, out, err } = await onServer("publish", file("other.json"), ...paths);
    const problem = `folders "${paths.join('" and "')}" both make the workflow "report" - give one of them another id`;
    expect([code, out, err]).toEqual([2, "", `nova: ${problem}\n`]);
    expect((await nova("versions", "other")).err).toContain("there is no workflow");
  });

  it("is paused and resumed together with its schedule", async () => {
    expect((await nova("pause", "report")).out).toMatch(/^report is paused since 20/);
    expect((await nova("start", "report", "--no-wait", "--json")).out).toContain('"status":"queued"');
    expect((await nova("resume", "report")).out).toBe("report continues");
    expect((await nova("schedules", "pause", "report")).err).toContain("<one of nightly, often>");
    expect((await nova("schedules", "pause", "report", "often")).out).toMatch(/^often of report is paused since 20/);
    const { out } = await nova("schedules", "resume", "report", "nightly", "--json");
    expect(JSON.parse(out)).toMatchObject({ trigger: "nightly", paused_at: null, timezone: "Europe/Berlin" });
  });

  it("waits for events, which nova tasks lists with exact patterns, apart from the tasks of people", async () => {
    const event = { source: ["crm"], detail: { customer: ["{{n}}"] } };
    const waits = inARow("waits", { crm: { type: "wait", event, timeout: "1h" } });
    await writeFile(file("waits.json"), JSON.stringify(waits));
    await onServer("publish", file("waits.json"));
    const { out: execution } = await onServer("start", "waits", "--set", "n=12345678901234567890", "--no-wait");
    const pattern = '{"source":["crm"],"detail":{"customer":[12345678901234567890]}}';
    const listed = await vi.waitFor(async () => {
      const { out } = await nova("tasks", "--kind", "event", "--json");
      expect(out).toContain(`"pattern":${pattern}`);
      return JSON.parse(out);
    }, 20_000);
    expect(listed.items).toMatchObject([{ execution_id: execution, node: "crm", age_seconds: expect.any(Number) }]);
    expect((await onServer("tasks", "--kind", "event")).out).toContain(pattern);
    const early = (await nova("get", execution, "crm.answer")).err;
    expect(early).toMatch(/has no "crm.answer" yet: it is waiting, .* - it has: n/);
    expect((await nova("tasks")).out).toContain("no task waits for an answer");
    expect(await nova("tasks", "--kind", "mail")).toMatchObject({ code: 2, out: "" });
    await nova("cancel", execution);
  });
});
