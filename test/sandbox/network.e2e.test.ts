import { createServer, type Server } from "node:net";
import { describe, expect, test } from "vitest";
import { Bench, changesOf } from "./support/bench.ts";

const bench = Bench.use();

/** A server on the loopback device that echoes each connection's data at its end. */
async function echo(): Promise<{ port: number; visits: () => number; server: Server }> {
  let visits = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    visits++;
    socket.on("error", () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as { port: number }).port, visits: () => visits, server };
}

const talk = `
import socket
with socket.create_connection((context["host"], context["port"]), 10) as connection:
    connection.sendall(b"x" * context["size"])
    connection.shutdown(socket.SHUT_WR)
    context["got"] = len(b"".join(iter(lambda: connection.recv(1 << 16), b"")))
`;

function talking(host: string, port: number, allow?: string[], near?: string[]) {
  const context = { host: JSON.stringify(host), port: String(port), size: String(1 << 20) };
  return bench.request(talk, context, { ...(allow && { network: { allow } }), ...(near && { near }) });
}

describe("the code of a node with the field `network.allow`", () => {
  test("exchanges a megabyte with an allowed host in each direction, and leaves no connection open", async () => {
    const { port, server } = await echo();
    const sandbox = await bench.create();
    expect(changesOf(await bench.run(sandbox, talking("127.0.0.1", port, [`127.0.0.1:${port}`])))).toEqual({
      got: 1 << 20,
    });
    await new Promise((resolve) => server.close(resolve));
  });

  test("can connect to no other host, not even to the local cloud", async () => {
    const { port, visits, server } = await echo();
    const sandbox = await bench.create();
    const gateway = Number(new URL(process.env.E2B_API_URL as string).port);
    for (const forbidden of [port, gateway]) {
      const outcome = await bench.run(sandbox, talking("127.0.0.1", forbidden, ["example.com"]));
      expect(outcome).toMatchObject({
        kind: "finished",
        result: { status: "error", message: expect.stringMatching(/^ConnectionRefusedError: .* - network\.allow of/) },
      });
    }
    expect(visits()).toBe(0);
    server.close();
  });

  test("can connect to each address of an allowed range at its port, and to no other address", async () => {
    const { port, server } = await echo();
    const sandbox = await bench.create();
    const inside = [`127.0.0.0/30:${port}`, "10.0.0.0/8:1", "127.77.0.0/16"];
    expect(changesOf(await bench.run(sandbox, talking("127.0.0.1", port, inside)))).toEqual({ got: 1 << 20 });
    const beside = await bench.run(sandbox, talking("127.0.0.1", port, [`127.77.0.0/16:${port}`]));
    expect(beside).toMatchObject({ kind: "finished", result: { status: "error" } });
    server.close();
  });

  test("is not run, and its node fails, if the sandbox cannot enforce the field", async () => {
    const run = bench.run(await bench.create(), talking("a", 1, ["*.example.com"]));
    await expect(run).rejects.toMatchObject({
      name: "NodeFailed",
      message: expect.stringContaining("network.allow cannot be enforced"),
    });
  });
});

describe("the code of a node without the field `network.allow`", () => {
  test("can connect to no program on the machine of the sandbox, except at the hosts of its credentials", async () => {
    const { port, visits, server } = await echo();
    const sandbox = await bench.create();
    const gateway = Number(new URL(process.env.E2B_API_URL as string).port);
    for (const forbidden of [port, gateway]) {
      expect(await bench.run(sandbox, talking("127.0.0.1", forbidden))).toMatchObject({
        result: {
          status: "error",
          message: expect.stringMatching(/^ConnectionRefusedError: /),
          logs: expect.stringContaining(`[network] 127.0.0.1:${forbidden} is on this machine`),
        },
      });
    }
    expect(visits()).toBe(0);
    const near = talking("127.0.0.1", port, undefined, [`127.0.0.1:${port}`]);
    expect(changesOf(await bench.run(sandbox, near))).toEqual({ got: 1 << 20 });
    server.close();
  });
});
