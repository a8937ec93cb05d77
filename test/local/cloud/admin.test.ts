import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { joinOwner } from "../../../packages/local/src/cloud/admin-client.ts";
import { CounterBook } from "../../../packages/local/src/cloud/counting.ts";
import { OwnerGone } from "../../../packages/local/src/cloud/errors.ts";
import { openAdmin } from "../../../packages/local/src/cloud/owner.ts";
import { newOwner, type Owner } from "../../../packages/local/src/cloud/owner-file.ts";
import { type NodeEvent, Progress } from "../../../packages/local/src/cloud/progress.ts";

const execution = "exec_01KATESTTESTTESTTESTTESTT1";

let counters: CounterBook;
let progress: Progress;
let admin: Awaited<ReturnType<typeof openAdmin>>;
let owner: Owner;

beforeEach(async () => {
  [counters, progress] = [new CounterBook(), new Progress()];
  admin = await openAdmin({ adminKey: "secret", instance: "one", counters, progress });
  const nowhere = {
    dynamodb: "",
    s3: "",
    states: "",
    e2bApi: "",
    e2bSandbox: "",
    eventbridge: "",
    scheduler: "",
    sesv2: "",
  };
  owner = newOwner({ ...nowhere, admin: admin.url }, "one");
});

afterEach(() => admin.close());

async function guest(drives = true) {
  const visited = await joinOwner(owner, "secret", drives);
  if (!visited) throw new TypeError("the owner let no guest in");
  return visited;
}

describe("the admin endpoint of a data folder's owner", () => {
  it.each(["health", "guest", `counters/${execution}`, `progress/${execution}`])(
    "refuses the request /%s without the key of the owner",
    async (path) => {
      const wrong = { headers: { authorization: "Bearer guessed" } };
      expect((await fetch(`${admin.url}/${path}`)).status).toBe(401);
      expect((await fetch(`${admin.url}/${path}`, wrong)).status).toBe(401);
    },
  );

  it("reports the cost and the end of an execution to a guest", async () => {
    const one = await guest();
    counters.countAws("dynamodb", execution, 10);
    expect(await one.counters(execution)).toEqual(counters.of(execution));
    const heard: NodeEvent[] = [];
    progress.note(execution, { node: "a", state: "started" });
    const end = one.untilEnd(execution, (event) => {
      heard.push(event);
      if (event.state === "succeeded") progress.end(execution);
    });
    progress.note(execution, { node: "a", state: "succeeded" });
    await end;
    expect(heard.map((event) => event.state)).toEqual(["started", "succeeded"]);
  });

  it("is not used by guests after the owner has died and another process has taken its port", async () => {
    expect(await joinOwner({ ...owner, instance: "two" }, "secret", true)).toBeNull();
    expect(
      await joinOwner({ ...owner, endpoints: { ...owner.endpoints, admin: "http://127.0.0.1:9" } }, "secret", true),
    ).toBeNull();
  });

  it("admits new guests only until the last guest has left", async () => {
    const first = await guest();
    const left = admin.guests.untilLastLeft();
    const second = await guest();
    first.leave();
    second.leave();
    await left;
    expect(await joinOwner(owner, "secret", true)).toBeNull();
  });

  it("calls the listener of the owner only for guests that want executions to continue", async () => {
    let drivers = 0;
    admin.guests.onDriver(() => {
      drivers += 1;
    });
    await guest(false);
    expect(drivers).toBe(0);
    await guest(true);
    expect([drivers, admin.guests.count]).toEqual([1, 2]);
  });

  it("informs waiting guests when the owner closes the endpoint or dies", async () => {
    const [polite, waiting] = [await guest(), await guest()];
    admin.guests.askToLeave();
    await polite.ownerEnding;
    const end = waiting.untilEnd(execution);
    const ends = expect(end).rejects.toThrow("the process that owned the data folder has ended");
    await admin.close();
    await Promise.all([ends, waiting.ownerLost]);
  });
});

describe("an owner of a data folder that dies", () => {
  it.each([
    ["after half of an event", '{"node":"a","state":"started"}\n{"node":'],
    ["between two events", '{"node":"a","state":"started"}\n'],
  ])("makes waiting guests fail with an error if it dies %s", async (_what, text) => {
    await using dying = await ownerSaying(text);
    const heard: NodeEvent[] = [];
    await expect(dying.guest.untilEnd(execution, (event) => heard.push(event))).rejects.toThrow(OwnerGone);
    expect(heard).toEqual([{ node: "a", state: "started" }]);
  });

  it.each(["", '{"aws_calls":'])(
    "makes a guest's request for counters fail with OwnerGone if the response ends after %j",
    async (text) => {
      await using dying = await ownerSaying(text);
      await expect(dying.guest.counters(execution)).rejects.toThrow(OwnerGone);
    },
  );
});

/**
 * Starts a server that acts as the owner of a data folder. It admits a guest, answers every other request with `text`,
 * and then breaks the connection.
 */
async function ownerSaying(text: string) {
  const server = createServer((request, response) => {
    if (request.url === "/health") return response.end('{"instance":"one"}');
    response.writeHead(200).flushHeaders();
    if (request.url?.startsWith("/guest")) return response;
    return response.write(text || " ", () => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const guest = await joinOwner({ ...owner, endpoints: { ...owner.endpoints, admin: url } }, "secret", true);
  if (!guest) throw new TypeError("the owner let no guest in");
  return {
    guest,
    async [Symbol.asyncDispose]() {
      guest.leave();
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}
