import { connectServer, openClient, throwOwnerGone } from "../api/ask.ts";
import { closeCloud, openCloud } from "../cloud.ts";
import { Interrupt } from "../interrupt.ts";
import { command } from "./command.ts";

/**
 * The longest wait of one call in seconds. By default, clients of the Model Context Protocol give up after a minute.
 */
const maxWaitSeconds = 50;

export const mcp = command({
  summary:
    "serve coding agents over stdin and stdout (Model Context Protocol): on this machine, or with NOVA_URL a server",
  json: false,
  async run() {
    const { serveMcpOnStdio } = await import("@nova/mcp/stdio");
    const exact = ["definition"];
    const server = await connectServer(exact);
    if (server) {
      await serveMcpOnStdio({ nova: server, maxWaitSeconds });
      return undefined;
    }
    const interrupt = new Interrupt();
    const cloud = await openCloud();
    try {
      const served = openClient(cloud, exact).then((nova) => serveMcpOnStdio({ nova, maxWaitSeconds }));
      await Promise.race([served, interrupt.requested(), cloud.lost.then(throwOwnerGone)]);
    } finally {
      await closeCloud(cloud, interrupt, "waiting for the runs of this cloud; Ctrl-C interrupts them");
    }
    return undefined;
  },
});
