import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  AgentGone,
  AgentRefusal,
  callAgent,
  forward,
  openCall,
  readHead,
} from "../../packages/e2b-local/src/agent-call.ts";

const END = Buffer.from("[end]");
let folder: string;
const closing: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nova-agent-"));
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  rmSync(folder, { recursive: true });
});

/** Starts an agent that handles each connection with `answers`. Returns the path of its socket. */
async function agentThat(answers: (socket: Socket) => void): Promise<string> {
  const path = join(folder, "agent");
  const agent = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => answers(socket));
  });
  closing.push(() => agent.close());
  await new Promise<void>((resolve) => agent.listen(path, resolve));
  return path;
}

/**
 * Sends a request to a server that forwards the agent's stream. Resolves with the text of the response, or rejects if
 * the connection breaks.
 */
async function throughServer(agent: string, size?: number): Promise<string> {
  const server = createHttpServer(async (_, response) => {
    const socket = openCall(agent, { op: "execute" });
    await readHead(socket);
    await forward(socket, response, size ?? END);
  });
  closing.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => get({ port }, resolve).on("error", reject));
  const parts = [];
  for await (const part of answer) parts.push(part);
  return Buffer.concat(parts).toString();
}

const head = '{"ok":true}\n';

test.each([
  ["in one piece", [`${head}a[end]`], "a[end]"],
  ["in pieces that end anywhere", ['{"o', 'k":true}\nab', "c[e", "nd]"], "abc[end]"],
])("a complete stream of a sandbox's agent is forwarded to the client: %s", async (_, pieces, text) => {
  const agent = await agentThat(async (socket) => {
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
    socket.end();
  });
  expect(await throughServer(agent)).toBe(text);
});

test.each([
  ["a stream without its end", undefined],
  ["fewer bytes than were announced", 100],
])("the client's connection breaks if the sandbox's agent sends %s", async (_, size) => {
  const agent = await agentThat((socket) => socket.end(`${head}half`));
  await expect(throughServer(agent, size)).rejects.toThrow();
});

test("a stream of a sandbox's agent is complete when the announced number of bytes has been forwarded", async () => {
  const agent = await agentThat((socket) => socket.end(`${head}12345`));
  expect(await throughServer(agent, 5)).toBe("12345");
});

test("a request fails with different errors if a sandbox's agent refuses it and if the sandbox is gone", async () => {
  const refusing = await agentThat((socket) => socket.end('{"error":{"code":"not_found","message":"no such file"}}\n'));
  await expect(callAgent(refusing, { op: "stat" })).rejects.toThrow(AgentRefusal);
  await expect(callAgent(join(folder, "nobody"), { op: "stat" })).rejects.toThrow(AgentGone);
});

test("a sandbox counts as gone if its agent closes the connection before it answers", async () => {
  const agent = await agentThat((socket) => socket.destroy());
  await expect(callAgent(agent, { op: "stat" })).rejects.toThrow(AgentGone);
});
