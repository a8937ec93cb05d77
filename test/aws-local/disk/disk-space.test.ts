import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Backlog, DiskSpace } from "../../../packages/aws-local/src/disk/disk-space.ts";
import { KeyedFile } from "../../../packages/aws-local/src/disk/keyed-file.ts";
import { LineFile } from "../../../packages/aws-local/src/disk/line-file.ts";
import { fullDisk } from "../../support/full-disk.ts";
import { handClock } from "../states/support/hand-clock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nova-disk-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const failing = (fields: object) => Object.assign(new Error("as it is thrown"), fields);
const noSpace = failing({ code: "ENOSPC" });

describe("the disk of a data folder", () => {
  it.each([
    ["a full disk", { code: "ENOSPC" }, /is full - free some space/],
    ["a quota", { code: "EDQUOT" }, /is full - free some space/],
    ["SQLite on a full disk", { code: "ERR_SQLITE_ERROR", errcode: 13 }, /is full - free some space/],
    ["a read-only file system", { code: "EROFS" }, /is read-only: .* can be read and verified - .*\(NOVA_DATA_DIR\)/],
    ["SQLite on a read-only file system", { code: "ERR_SQLITE_ERROR", errcode: 8 | (5 << 8) }, /is read-only/],
  ])("turns the write error of %s into one sentence with the status 507", (_, fields, sentence) => {
    const disk = new DiskSpace(folder, { clock: handClock() });
    expect(disk.refusal(failing(fields))).toMatchObject({ name: "InsufficientStorage", status: 507 });
    expect(disk.refusal(failing(fields))?.message).toMatch(sentence);
    disk.close();
  });

  it.each([{ code: "ENOENT" }, { code: "EACCES" }, { errcode: 19 }, {}])(
    "is not reported as full or read-only for the error %j, which it did not cause",
    (fields) => {
      expect(new DiskSpace(folder).refusal(failing(fields))).toBeUndefined();
    },
  );

  it("is tested every second while it is full, and all waiting stores continue when it has space", async () => {
    const [clock, fault, told] = [handClock(), await fullDisk(folder), [] as string[]];
    const disk = new DiskSpace(folder, { clock, warn: (sentence) => told.push(sentence) });
    fault.fill();
    disk.probe();
    const back = Promise.all([disk.untilSpace(), disk.untilSpace()]);
    clock.pass(1);
    await Promise.resolve();
    expect([disk.hasSpace, disk.isWaiting]).toEqual([false, true]);
    expect(() => disk.requireSpace()).toThrow(/is full/);
    fault.free();
    for (let looks = 0; !disk.hasSpace && looks < 10; looks++) {
      await new Promise(setImmediate);
      clock.pass(1);
    }
    await back;
    expect(told).toEqual([expect.stringMatching(/is full/), expect.stringMatching(/^there is room again/)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("lets all waiting stores continue when the data folder is closed", async () => {
    const disk = new DiskSpace(folder, { clock: handClock() });
    disk.refusal(noSpace);
    const waiting = disk.untilSpace();
    disk.close();
    await waiting;
    expect([disk.hasSpace, disk.isWaiting]).toEqual([false, false]);
  });
});

describe("a file on a full disk", () => {
  it("contains complete lines only, and gets further lines when the disk has space", async () => {
    const path = join(folder, "lines");
    const fault = await fullDisk(folder);
    const { file } = LineFile.open(path);
    file.append({ n: 1 });
    fault.fill();
    expect(() => file.append({ n: 2 })).toThrow(/ENOSPC/);
    fault.free();
    file.append({ n: 3 });
    file.close();
    expect(LineFile.open(path).lines).toEqual([{ n: 1 }, { n: 3 }]);
  });

  it("keeps its content if it cannot be replaced, and no temporary file is left", async () => {
    const file = new KeyedFile<number>(join(folder, "value.json"), String);
    const fault = await fullDisk(folder);
    file.put(1);
    fault.fill();
    expect(() => file.put(2)).toThrow(/ENOSPC/);
    expect([file.all(), readdirSync(folder)]).toEqual([[1], ["value.json"]]);
  });
});

describe("a backlog of writes", () => {
  it("keeps writes in memory while the disk is full and performs them in order later, but refuses a write that cannot wait", async () => {
    const [clock, fault, written] = [handClock(), await fullDisk(folder), [] as number[]];
    const backlog = new Backlog(new DiskSpace(folder, { clock }));
    let isFull = true;
    const write = (n: number) => () => {
      if (isFull) throw noSpace;
      written.push(n);
    };
    fault.fill();
    backlog.write(write(1));
    backlog.write(write(2));
    expect(() => backlog.writeNow(write(3))).toThrow(/is full/);
    isFull = false;
    fault.free();
    while (written.length < 2) {
      clock.pass(1);
      await new Promise(setImmediate);
    }
    backlog.writeNow(write(4));
    expect(written).toEqual([1, 2, 4]);
  });
});
