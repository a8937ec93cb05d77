import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeyedFile } from "../../../packages/aws-local/src/disk/keyed-file.ts";
import { LineFile } from "../../../packages/aws-local/src/disk/line-file.ts";
import { Backlog, Room } from "../../../packages/aws-local/src/disk/room.ts";
import { fullDisk } from "../../support/full-disk.ts";
import { handClock } from "../states/support/hand-clock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nova-room-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const failing = (fields: object) => Object.assign(new Error("as it is thrown"), fields);
const noSpace = failing({ code: "ENOSPC" });

describe("room in a data folder", () => {
  it.each([
    ["a full disk", { code: "ENOSPC" }, /is full - free some space/],
    ["a quota", { code: "EDQUOT" }, /is full - free some space/],
    ["SQLite on a full disk", { code: "ERR_SQLITE_ERROR", errcode: 13 }, /is full - free some space/],
    ["a read-only file system", { code: "EROFS" }, /is read-only: .* can be read and verified - .*\(NOVA_DATA_DIR\)/],
    ["SQLite on one", { code: "ERR_SQLITE_ERROR", errcode: 8 | (5 << 8) }, /is read-only/],
  ])("refuses the writes of %s with one sentence, as a store without room", (_, fields, sentence) => {
    const room = new Room(folder, { clock: handClock() });
    expect(room.refusal(failing(fields))).toMatchObject({ name: "InsufficientStorage", status: 507 });
    expect(room.refusal(failing(fields))?.message).toMatch(sentence);
    room.close();
  });

  it.each([{ code: "ENOENT" }, { code: "EACCES" }, { errcode: 19 }, {}])("leaves other errors alone: %j", (fields) => {
    expect(new Room(folder).refusal(failing(fields))).toBeUndefined();
  });

  it("is tried every second, and comes back to all who wait", async () => {
    const [clock, disk, told] = [handClock(), await fullDisk(folder), [] as string[]];
    const room = new Room(folder, { clock, warn: (sentence) => told.push(sentence) });
    disk.fill();
    room.try();
    const back = Promise.all([room.untilThere(), room.untilThere()]);
    clock.pass(1);
    await Promise.resolve();
    expect([room.isThere, room.isAwaited]).toEqual([false, true]);
    expect(() => room.require()).toThrow(/is full/);
    disk.free();
    for (let looks = 0; !room.isThere && looks < 10; looks++) {
      await new Promise(setImmediate);
      clock.pass(1);
    }
    await back;
    expect(told).toEqual([expect.stringMatching(/is full/), expect.stringMatching(/^there is room again/)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("keeps nobody waiting who closes", async () => {
    const room = new Room(folder, { clock: handClock() });
    room.refusal(noSpace);
    const waiting = room.untilThere();
    room.close();
    await waiting;
    expect([room.isThere, room.isAwaited]).toEqual([false, false]);
  });
});

describe("a file on a full disk", () => {
  it("of lines takes all of a line or nothing, and goes on behind the last whole one", async () => {
    const path = join(folder, "lines");
    const disk = await fullDisk(folder);
    const { file } = LineFile.open(path);
    file.append({ n: 1 });
    disk.fill();
    expect(() => file.append({ n: 2 })).toThrow(/ENOSPC/);
    disk.free();
    file.append({ n: 3 });
    file.close();
    expect(LineFile.open(path).lines).toEqual([{ n: 1 }, { n: 3 }]);
  });

  it("that is replaced stays as it was, and no draft stays beside it", async () => {
    const file = new KeyedFile<number>(join(folder, "value.json"), String);
    const disk = await fullDisk(folder);
    file.put(1);
    disk.fill();
    expect(() => file.put(2)).toThrow(/ENOSPC/);
    expect([file.all(), readdirSync(folder)]).toEqual([[1], ["value.json"]]);
  });
});

describe("a backlog", () => {
  it("keeps what finds no room, in its order, and takes nothing new meanwhile", async () => {
    const [clock, disk, written] = [handClock(), await fullDisk(folder), [] as number[]];
    const backlog = new Backlog(new Room(folder, { clock }));
    let isFull = true;
    const write = (n: number) => () => {
      if (isFull) throw noSpace;
      written.push(n);
    };
    disk.fill();
    backlog.write(write(1));
    backlog.write(write(2));
    expect(() => backlog.writeNow(write(3))).toThrow(/is full/);
    isFull = false;
    disk.free();
    while (written.length < 2) {
      clock.pass(1);
      await new Promise(setImmediate);
    }
    backlog.writeNow(write(4));
    expect(written).toEqual([1, 2, 4]);
  });
});
