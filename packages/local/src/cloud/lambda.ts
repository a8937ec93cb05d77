import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { arnOf, Deliveries, type DiskSpace, type InvokeLambda, type OnCreated } from "@nova/aws-local";
import type { EndpointOptions } from "./local-cloud.ts";

export function functionArn(name: string): string {
  return arnOf("lambda", `function:${name}:live`);
}

/** AWS Lambda tries an asynchronous event three times ("Asynchronous invocation"). */
const deliveries = 3;

/**
 * Creates the Lambda service with NOVA's functions. Starts to load the functions at once, because no other part of the
 * cloud takes as long to load.
 */
export function createLambda(): InvokeLambda {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const loading = loadFunctions();
  return async (...call) => (await loading)(...call);
}

/** Delivers an event to a function. Returns false if every attempt failed. */
export async function deliver(invoke: InvokeLambda, functionArn: string, payload: string): Promise<boolean> {
  for (let delivery = 1; delivery <= deliveries; delivery++) {
    if (delivery > 1) await sleep(1000);
    const result = await invoke(functionArn, payload).catch(() => ({ ok: false }));
    if (result.ok) return true;
  }
  return false;
}

/**
 * Loads the functions. The environment may still be incomplete, because functions read it when they are first invoked.
 */
async function loadFunctions(): Promise<InvokeLambda> {
  const [{ functions, serviceFunctions }, { createLambdaRuntime }] = await Promise.all([
    import("@nova/functions"),
    import("@nova/aws-local/lambda"),
  ]);
  return createLambdaRuntime({ ...functions, ...serviceFunctions });
}

/**
 * Wraps `invoke` so that functions wait while the disk is full, and a function that failed for this reason is invoked
 * again. The execution pauses without spending a retry. Functions tolerate being invoked twice.
 */
export function pauseOnFullDisk(invoke: InvokeLambda, disk: DiskSpace): InvokeLambda {
  return async (...call) => {
    for (;;) {
      await disk.untilSpace();
      const result = await invoke(...call);
      if (result.ok || !disk.isWaiting) return result;
    }
  };
}

const folder = "mail/";

/** Delivers mails from the bucket to the function that receives them. */
export class Mails extends Deliveries {
  constructor({ dataDir, disk }: Pick<EndpointOptions, "dataDir" | "disk">, invoke: InvokeLambda) {
    super(join(dataDir, "incoming-mail"), (arn, payload) => deliver(invoke, arn, payload), disk);
  }

  /** Turns a stored mail into the notification that S3 sends to Lambda. */
  readonly onCreated: OnCreated = ({ bucket, key, bytes }) => {
    if (!key.startsWith(folder)) return;
    const s3 = {
      bucket: { name: bucket },
      object: { key: encodeURIComponent(key).replaceAll("%2F", "/"), size: bytes },
    };
    const record = { eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 };
    const payload = JSON.stringify({ Records: [record] });
    this.add({ functionArn: functionArn("nova-receive-mail"), payload, inTurn: false });
  };
}
