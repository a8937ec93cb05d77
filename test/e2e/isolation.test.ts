import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud } from "../support/cloud.ts";

const warnings: string[] = [];
const cloud = await openTestCloud({ warn: (sentence) => warnings.push(sentence) });
const isolated = warnings.length === 0;

afterAll(async () => {
  await cloud.close();
});

/** Runs code on a context and answers what it set. */
async function setBy(code: string, context: Record<string, unknown> = {}) {
  const trace = await cloud.runCode(code, { context: JSON.stringify(context) });
  expect(entryOf(trace).error_message).toBeNull();
  return JSON.parse(trace.context.text);
}

describe.runIf(isolated)("a node's code", () => {
  it("sees nothing of the machine and of the local cloud", async () => {
    const inside = [".", "keys.json", "owner.json", "dynamodb", "s3", "states"].map((name) =>
      join(cloud.dataDir, name),
    );
    const project = [process.cwd(), join(process.cwd(), "package.json")];
    const home = [homedir(), join(homedir(), ".ssh"), "/root/.nova-sandbox/inputs"];
    const system = ["/etc/shadow", "/var/log", "/proc/1/environ", "/proc/1/root", "/proc/1/fd"];
    const look = `
import os
def look(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else open(path).read(200)
    except OSError as error:
        return type(error).__name__
context["seen"] = [[path, look(path)] for path in context["paths"]]`;
    const { seen } = await setBy(look, { paths: [...inside, ...project, ...home, ...system] });
    const nothing = ["FileNotFoundError", "PermissionError", "[]"];
    expect(seen.filter(([, found]: [string, unknown]) => !nothing.includes(String(found) || "[]"))).toEqual([]);
  });

  it("finds no key in its environment, and is refused without one by every endpoint", async () => {
    const code = `
import os, urllib.request, urllib.error
def ask(url, target=None):
    headers = {"x-amz-target": target, "content-type": "application/x-amz-json-1.0"} if target else {}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, b"{}" if target else None, headers)).status
    except urllib.error.HTTPError as error:
        return error.code
e = context["endpoints"]
context["answers"] = [
    ask(e["AWS_ENDPOINT_URL_DYNAMODB"], "DynamoDB_20120810.ListTables"),
    ask(e["AWS_ENDPOINT_URL_SFN"], "AWSStepFunctions.ListStateMachines"),
    ask(e["AWS_ENDPOINT_URL_S3"] + "/nova?list-type=2"),
    ask(e["E2B_API_URL"] + "/v2/sandboxes"),
]
context["environment"] = dict(os.environ)`;
    const secrets = /KEY(?!_FILE)/;
    const endpoints = Object.fromEntries(Object.entries(cloud.environment).filter(([name]) => !secrets.test(name)));
    const { answers, environment } = await setBy(code, { endpoints });
    expect(answers).toEqual([400, 403, 403, 401]);
    const keys = Object.entries(cloud.environment).filter(([name]) => secrets.test(name));
    expect(keys.map(([name]) => name).sort()).toEqual([
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "E2B_API_KEY",
      "NOVA_SIGNING_KEY",
      "NOVA_VAULT_KEY",
    ]);
    for (const [, key] of keys) expect(JSON.stringify(environment)).not.toContain(key);
  });

  it("leaves neither files nor processes to the next node, nor to other runs", async () => {
    const leave = `
import os, subprocess
context["written"] = []
for place in ["/tmp", os.path.expanduser("~"), os.getcwd(), "/dev/shm", "/var/tmp"]:
    try:
        open(place + "/left-behind", "w").write("mine")
        context["written"].append(place)
    except OSError: pass
subprocess.Popen(["sleep", "600"], start_new_session=True)`;
    const find = `
import glob, os
context["found"] = [place for place in context["written"] if os.path.exists(place + "/left-behind")]
context["sleeping"] = [path for path in glob.glob("/proc/[0-9]*/cmdline") if b"sleep" in open(path, "rb").read()]`;
    const trace = await cloud.run(await cloud.publish(inARow("leave", { leave, find })));
    const { written, found, sleeping } = JSON.parse(trace.context.text);
    expect(written).toContain("/tmp");
    expect([found, sleeping]).toEqual([[], []]);
    expect(await setBy(find, { written })).toEqual({ written, found: [], sleeping: [] });
  });
});

it.runIf(!isolated)("the lack of isolation is said in one sentence", () => {
  expect(warnings).toEqual([expect.stringMatching(/not isolated/)]);
});
