import { callLink, executionOfToken, type ResumeLink, requestApproval, settleNode, sweep } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { readPosition } from "../../../../packages/engine/src/chain/position.ts";
import { resumeUrl } from "../../../../packages/engine/src/kinds/waiting/resume.ts";
import { EventWait } from "../../../support/engine/event-wait.ts";
import { atOnce } from "../../../support/engine/scheduler.ts";

const never = { source: ["crm"], detail: { customer: ["{{customer}}"] } };

class Linked extends EventWait {
  constructor() {
    super(never);
  }

  override async begin(): Promise<this> {
    return super.begin('{"customer":"acme"}');
  }

  /** Returns the resume link that the code of the node with the entry number `seq` reads. */
  async urlAt(seq: number, node = "pause"): Promise<string | null> {
    const position = await readPosition(this.ports, { execution: this.id, scope: "", seq });
    return resumeUrl(this.ports, position, node);
  }

  get link(): ResumeLink {
    const [link, ...others] = this.world.tasks.links.links.values();
    if (!link || others.length > 0) throw new RangeError("there is not one link");
    return link;
  }

  call(text = '{"deal":850.0}', ports = this.ports): Promise<boolean> {
    return callLink(ports, this.link, this.world.record(this.id), text);
  }
}

/** A run whose first node has read its resume link. */
async function linked(): Promise<Linked> {
  const story = new Linked();
  await story.start('{"customer":"acme"}');
  await story.urlAt(1);
  await story.finish(story.deliver("prepare", 0));
  return story;
}

describe("the resume link of a wait", () => {
  it("is the same in every delivery of the wait, and cannot be computed without the signing key", async () => {
    const story = await new Linked().begin();
    const url = new URL((await story.urlAt(1)) ?? "");
    expect(await story.urlAt(1)).toBe(url.href);
    expect(url.pathname).toMatch(/^\/tasks\/task_[0-9A-HJKMNP-TV-Z]{26}$/);
    const token = url.searchParams.get("token") ?? "";
    expect(executionOfToken(token)).toBe(story.id);
    expect(JSON.stringify([...story.world.tasks.links.links.values()])).not.toContain(token);
    const other = await new Linked().begin();
    expect(new URL((await other.urlAt(1)) ?? "").pathname).not.toBe(url.pathname);
  });

  it("exists only for nodes that wait for an event", async () => {
    const story = await new Linked().begin();
    expect(await story.urlAt(1, "prepare")).toBeNull();
    expect(await story.urlAt(1, "nobody")).toBeNull();
  });

  it("ends the wait once, and the body of the call keeps all digits of its numbers", async () => {
    const story = await linked();
    await story.wait();
    expect(await story.call()).toBe(true);
    expect(story.chain.at(-1)).toBe("pause success");
    expect(story.news).toContain("850.0");
    expect(JSON.parse(story.world.answered.get("token-1") ?? "{}")).toMatchObject({ seq: 2 });
    await expect(story.call('{"deal":2}')).rejects.toThrow(
      'the link to "pause" was used before - it is good for one call',
    );
    expect(await story.call()).toBe(true);
    expect(await story.emit('{"customer":"acme"}')).toEqual([]);
  });

  it("stores the body of a call that comes before the wait begins, and the wait then takes this body", async () => {
    const story = await linked();
    expect(await story.call()).toBe(false);
    await expect(story.call('{"deal":2}')).rejects.toThrow(/was used before/);
    await story.wait();
    expect(story.chain.at(-1)).toBe("pause success");
    expect(story.news).toContain("850.0");
  });

  it("ends the wait, whichever step the start of the wait has reached when the link is called", async () => {
    for (const first of ["call", "wait"]) {
      for (let steps = 0; ; steps++) {
        const story = await linked();
        const wait = story.world.spawn("wait", (ports) => requestApproval(ports, story.event));
        const call = story.world.spawn("call", (ports) => story.call(undefined, ports));
        const [begun, other] = first === "call" ? [call, wait] : [wait, call];
        const isUnderWay = await story.advance(begun, steps);
        await story.finish(other);
        await story.finish(begun);
        expect([first, steps, story.chain.at(-1), call.state]).toEqual([first, steps, "pause success", "done"]);
        if (!isUnderWay) break;
      }
    }
  });

  it("ends the wait even if the process of the call dies at any step, because a sweep completes the call", async () => {
    for (let steps = 0; ; steps++) {
      const story = await linked();
      await story.wait();
      const call = story.world.spawn("call", (ports) => story.call(undefined, ports));
      const isUnderWay = await story.advance(call, steps);
      call.kill();
      const isKept = story.link.body !== undefined;
      story.world.clock.advance(120_000);
      await sweep(story.world.ports(atOnce));
      expect([steps, story.chain.at(-1)]).toEqual([steps, isKept ? "pause success" : "prepare success"]);
      const [task] = story.world.tasks.all();
      expect(task?.status).toBe(isKept ? "sent" : "open");
      if (!isUnderWay) return;
    }
  });

  it("refuses a call after the end of the wait or of the run", async () => {
    const expired = await linked();
    await expired.wait();
    await settleNode(expired.ports, { ...expired.event, expired: true });
    await expect(expired.call()).rejects.toMatchObject({ name: "WaitOver" });
    const cancelled = await linked();
    await cancelled.finish(cancelled.cancel());
    await expect(cancelled.call()).rejects.toMatchObject({ name: "WaitOver", message: /is over/ });
  });
});
