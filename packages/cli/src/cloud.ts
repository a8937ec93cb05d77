import { styleText } from "node:util";
import type { LocalCloud } from "@nova/local";

/** Opens the cloud of `.nova`, or of `NOVA_DATA_DIR`. */
export async function openCloud(): Promise<LocalCloud> {
  const { openLocalCloud } = await import("@nova/local");
  return openLocalCloud({
    dataDir: process.env.NOVA_DATA_DIR ?? ".nova",
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
