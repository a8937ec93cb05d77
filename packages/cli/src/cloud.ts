import { join } from "node:path";
import { styleText } from "node:util";
import type { LocalCloud } from "@nova/local";

/** Opens the cloud of `.nova`, or of `NOVA_DATA_DIR`; or one that lies in a folder inside, apart from people's runs. */
export async function openCloud(inside = ""): Promise<LocalCloud> {
  const { openLocalCloud } = await import("@nova/local");
  return openLocalCloud({
    dataDir: join(process.env.NOVA_DATA_DIR ?? ".nova", inside),
    warn: (sentence) => console.error(styleText("yellow", `nova: ${sentence}`)),
  });
}

/** For a command that asks something and is done. */
export async function withCloud<T>(work: (cloud: LocalCloud) => Promise<T>): Promise<T> {
  const cloud = await openCloud();
  try {
    return await work(cloud);
  } finally {
    await cloud.close();
  }
}
