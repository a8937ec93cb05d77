import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { type Events, openEvents } from "../../../packages/aws-local/src/events/open-events.ts";
import { patterns } from "../support/languages.ts";

export const credentials = { accessKeyId: "test-key", secretAccessKey: "test" };
const functionOf = (name: string) => `arn:aws:lambda:us-east-1:123456789012:function:${name}:live`;

export const standing = functionOf("nova-deliver-event");
export const inTurn = functionOf("nova-publish");
export const target = functionOf("nova-fire-trigger");

/** EventBridge for a test. It can be closed and opened again over the same folder. */
export class TestEvents implements Disposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), "nova-events-"));
  /** All deliveries so far: the function, and the payload as text. */
  readonly delivered: { functionArn: string; payload: string }[] = [];
  /** Says whether a function succeeds with its event. A promise keeps the function at work until it resolves. */
  takes: () => boolean | Promise<boolean> = () => true;
  client!: EventBridgeClient;
  events!: Events;

  async open(): Promise<void> {
    this.events = await openEvents({
      dataDir: this.dataDir,
      ...credentials,
      now: () => Date.parse("2026-11-22T08:00:00.500Z"),
      patterns,
      customBus: "nova",
      standing: [
        { pattern: { source: [{ "anything-but": ["nova"] }] }, functionArn: standing },
        { pattern: { source: ["nova"] }, functionArn: inTurn, inTurn: true },
      ],
      invoke: async (functionArn, payload) => {
        this.delivered.push({ functionArn, payload });
        return this.takes();
      },
    });
    this.client = new EventBridgeClient({ region: "us-east-1", endpoint: this.events.url, credentials });
  }

  async close(): Promise<void> {
    await this.events.close();
    this.client.destroy();
  }

  [Symbol.dispose](): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
