/**
 * A process that opens a data folder, and prints whether it is the owner of the folder or a guest. It leaves the folder
 * when it reads anything from stdin, or at the end of stdin.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { CounterBook } from "../../../packages/local/src/cloud/counting.ts";
import { readKeys } from "../../../packages/local/src/cloud/keys.ts";
import { claimFolder } from "../../../packages/local/src/cloud/open.ts";
import { openAdmin } from "../../../packages/local/src/cloud/owner.ts";
import { newOwner, removeOwner, writeOwner } from "../../../packages/local/src/cloud/owner-file.ts";
import { Progress } from "../../../packages/local/src/cloud/progress.ts";

const dataDir = process.argv[2] as string;
const { adminKey } = await readKeys(dataDir);
const claim = await claimFolder(dataDir, adminKey, { drives: true, isReadOnly: false });
if (claim.role === "guest") {
  report("guest", claim.owner.instance);
  await told();
  claim.visit.leave();
} else {
  const instance = randomUUID();
  const admin = await openAdmin({ adminKey, instance, counters: new CounterBook(), progress: new Progress() });
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
  await writeOwner(dataDir, newOwner({ ...nowhere, admin: admin.url }, instance));
  report("owner", instance);
  await told();
  await admin.guests.untilLastLeft();
  await removeOwner(dataDir);
  await admin.close();
  claim.lock.release();
}
process.exit();

function report(role: string, instance: string): void {
  process.stdout.write(`${JSON.stringify({ role, instance })}\n`);
}

async function told(): Promise<void> {
  process.stdin.resume();
  await Promise.race([once(process.stdin, "data"), once(process.stdin, "end")]);
}
