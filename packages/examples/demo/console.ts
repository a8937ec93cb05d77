import { once } from "node:events";
import { type LocalCloud, openApi } from "@nova/local";

/** Shows the runs in the browser until Ctrl-C. */
export async function showConsole(cloud: LocalCloud, say: (line: string) => void): Promise<void> {
  const page = async () => (await import("@nova/console/build")).buildPage();
  const api = await openApi(cloud, { port: 0, page });
  try {
    say(`The runs in the browser (the link signs in once; Ctrl-C ends this): ${api.consoleLink()}`);
    await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  } finally {
    await api.close();
  }
}
