import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { answering } from "../support/model-answers.ts";
import { type ModelServer, modelServer } from "../support/model-server/model-server.ts";

let cloud: TestCloud;
let models: ModelServer;
let servers: RefusingServers;
let code = "";

beforeAll(async () => {
  servers = await refusingServers();
  models = await modelServer((request) => answering({ code: [code] }, request));
  Object.assign(process.env, models.environment);
  cloud = await openTestCloud();
});
afterAll(async () => {
  await cloud.close();
  for (const name of Object.keys(models.environment)) delete process.env[name];
  await models[Symbol.asyncDispose]();
  await servers[Symbol.asyncDispose]();
});

const login = 'm.login(context["user"], context["password"])\ncontext["done"] = True';
const failures: [string, (port: RefusingServers["port"]) => { host: string; code: string }, RegExp][] = [
  [
    "a server that returns 503",
    ({ http }) => ({
      host: `127.0.0.1:${http}`,
      code: `import requests\nr = requests.get("http://127.0.0.1:${http}/")\nr.raise_for_status()\ncontext["done"] = True`,
    }),
    /^HTTPError: 503 Server Error/,
  ],
  [
    "a mailbox that refuses the password",
    ({ imap }) => ({
      host: `127.0.0.1:${imap}`,
      code: `import imaplib\nm = imaplib.IMAP4("127.0.0.1", ${imap})\n${login}`,
    }),
    /AUTHENTICATIONFAILED/,
  ],
  [
    "a mail server that refuses the password",
    ({ smtp }) => ({
      host: `127.0.0.1:${smtp}`,
      code: `import smtplib\nm = smtplib.SMTP("127.0.0.1", ${smtp})\n${login}`,
    }),
    /^SMTPAuthenticationError: \(535/,
  ],
  [
    "a closed port",
    () => ({
      host: "127.0.0.1:1",
      code: `import urllib.request\ncontext["done"] = urllib.request.urlopen("http://127.0.0.1:1/").status`,
    }),
    / - 127\.0\.0\.1:1 cannot be reached: Connection refused$/,
  ],
  [
    "an unknown host name",
    () => ({
      host: "no-such-host.invalid:80",
      code: `import urllib.request\ncontext["done"] = urllib.request.urlopen("http://no-such-host.invalid/").status`,
    }),
    / - no-such-host\.invalid:80 cannot be reached: /,
  ],
];

it.each(failures)(
  "%s makes a prompt node fail at its first attempt, and the error names the cause",
  async (what, asks, message) => {
    const { host, ...script } = asks(servers.port);
    code = script.code;
    const node = { executor: "prompt", prompt: `Ask ${host}.`, network: { allow: [host] } };
    const id = what.replaceAll(" ", "-");
    const trace = await cloud.run(
      await cloud.publish(inARow(id, { work: node })),
      '{"user": "ada", "password": "wrong-password"}',
    );
    const { error_class, error_message, ai_metadata, steps } = entryOf(trace);
    expect(error_message, JSON.stringify(steps)).toMatch(message);
    expect({ error_class, attempts: ai_metadata?.attempts }).toEqual({ error_class: "NodeFailed", attempts: 1 });
    expect(steps.at(-1)).toMatchObject({ agent_name: "E2BExecutor", output_data: { fault: "world" } });
  },
);

/** Servers on 127.0.0.1 that refuse every login, one for each protocol. */
interface RefusingServers extends AsyncDisposable {
  port: Record<"http" | "imap" | "smtp", number>;
}

async function refusingServers(): Promise<RefusingServers> {
  const servers: Record<keyof RefusingServers["port"], Server> = {
    http: createHttpServer((_, response) => response.writeHead(503).end("busy")),
    imap: createServer((socket) => speak(socket, "* OK ready", imapAnswer)),
    smtp: createServer((socket) => speak(socket, "220 ready", smtpAnswer)),
  };
  const all = Object.values(servers);
  await Promise.all(all.map((server) => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))));
  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  return {
    port: { http: portOf(servers.http), imap: portOf(servers.imap), smtp: portOf(servers.smtp) },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((server) => new Promise((done) => server.close(done))));
    },
  };
}

/** Answers each command of a client. A broken connection is ignored. */
function speak(socket: Socket, greeting: string, answer: (command: string) => string): void {
  socket.on("error", () => {});
  socket.on("data", (data) => socket.write(`${answer(String(data))}\r\n`));
  socket.write(`${greeting}\r\n`);
}

function imapAnswer(command: string): string {
  const [tag = "", name = ""] = command.split(" ");
  if (/^capability/i.test(name)) return `* CAPABILITY IMAP4rev1\r\n${tag} OK done`;
  return /^login/i.test(name) ? `${tag} NO [AUTHENTICATIONFAILED] Authentication failed.` : `${tag} OK done`;
}

function smtpAnswer(command: string): string {
  if (/^ehlo/i.test(command)) return "250-ready\r\n250 AUTH LOGIN PLAIN";
  return /^auth/i.test(command) ? "535 5.7.8 Authentication failed" : "250 ok";
}
