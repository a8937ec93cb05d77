import { homedir } from "node:os";
import { join } from "node:path";
import { openMail } from "@nova/local";
import { afterAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud } from "../support/cloud.ts";

const warnings: string[] = [];
const cloud = await openTestCloud({ warn: (sentence) => warnings.push(sentence) });
const isolated = warnings.length === 0;

afterAll(async () => {
  await cloud.close();
});

/** Runs code on a context and returns the values that it set. */
async function setBy(code: string, context: Record<string, unknown> = {}) {
  const trace = await cloud.runCode(code, { context: JSON.stringify(context) });
  expect(entryOf(trace).error_message).toBeNull();
  return JSON.parse(trace.context.text);
}

describe.runIf(isolated)("the code of a node", () => {
  it("cannot see files of the machine or of the local cloud", async () => {
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

  it("cannot connect to the servers of the local cloud, not even to the mail server", async () => {
    const code = `
import socket
def knock(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 5):
            return "reached"
    except OSError as error:
        return type(error).__name__
context["answers"] = {name: knock(port) for name, port in context["ports"].items()}`;
    const mail = await openMail(cloud, { port: 0 });
    const urls = Object.entries(cloud.environment).filter(([, value]) => value.startsWith("http://127.0.0.1:"));
    const ports = {
      mail: mail.port,
      ...Object.fromEntries(urls.map(([name, url]) => [name, Number(new URL(url).port)])),
    };
    expect(Object.keys(ports)).toEqual(
      expect.arrayContaining([
        "AWS_ENDPOINT_URL_DYNAMODB",
        "AWS_ENDPOINT_URL_SFN",
        "AWS_ENDPOINT_URL_S3",
        "E2B_API_URL",
      ]),
    );
    const { answers } = await setBy(code, { ports });
    await mail.close();
    expect(answers).toEqual(Object.fromEntries(Object.keys(ports).map((name) => [name, "ConnectionRefusedError"])));
  });

  it.each(["fork", "spawn", "forkserver"])(
    "can use the Python module multiprocessing with the start method %s",
    async (method) => {
      const code = `
import multiprocessing
def square(number):
    return json.dumps(number * number)
if __name__ == "__main__":
    with multiprocessing.get_context(context["method"]).Pool(2) as pool:
        context["squares"] = pool.map(square, [1, 2, 3])`;
      expect((await setBy(code, { method })).squares).toEqual(["1", "4", "9"]);
    },
  );

  it("finds no keys in its environment variables, and cannot use any endpoint without a key", async () => {
    const { environment } = await setBy("import os; context['environment'] = dict(os.environ)");
    const secrets = /KEY(?!_FILE)/;
    const keys = Object.entries(cloud.environment).filter(([name]) => secrets.test(name));
    expect(keys.map(([name]) => name).sort()).toEqual([
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "E2B_API_KEY",
      "NOVA_SIGNING_KEY",
      "NOVA_VAULT_KEY",
    ]);
    for (const [, key] of keys) expect(JSON.stringify(environment)).not.toContain(key);
    const { AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL_SFN, AWS_ENDPOINT_URL_S3, E2B_API_URL } = cloud.environment;
    const ask = (target: string) => ({
      method: "POST",
      body: "{}",
      headers: { "x-amz-target": target, "content-type": "application/x-amz-json-1.0" },
    });
    const answers = await Promise.all([
      fetch(AWS_ENDPOINT_URL_DYNAMODB as string, ask("DynamoDB_20120810.ListTables")),
      fetch(AWS_ENDPOINT_URL_SFN as string, ask("AWSStepFunctions.ListStateMachines")),
      fetch(`${AWS_ENDPOINT_URL_S3}/nova?list-type=2`),
      fetch(`${E2B_API_URL}/v2/sandboxes`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 403, 403, 401]);
  });

  it("leaves no files and no processes for the next node or for other runs", async () => {
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

it.runIf(!isolated)("the local cloud warns in one sentence if sandboxes are not isolated", () => {
  expect(warnings).toEqual([expect.stringMatching(/not isolated/)]);
});
