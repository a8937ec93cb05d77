import { describe, expect, it } from "vitest";
import { guardProblem, largestMailBytes, textLoad } from "../../../packages/service/src/mail/guard.ts";

const line = "A".repeat(76);
const words = "These are words and no base64, though there are many";

describe("the guard against hostile mail", () => {
  it.each<[string, string, number, number]>([
    ["an empty text", "", 0, 0],
    ["base64", `${line}\r\n`.repeat(3), 0, 0],
    ["base64 without a line break at its end", line, 0, 0],
    ["the short end of base64", `${line}\r\n${"A".repeat(30)}==\r\n`, 34, 0],
    ["words", `${words}\n`, words.length + 1, 0],
    ["short lines", "a\r\nb\n\n", 6, 3],
    ["base64 with one invalid letter", `${line}!\n`, 78, 0],
  ])("counts what a parser must read in %s", (_what, text, textBytes, shortLines) => {
    expect(textLoad(Buffer.from(text))).toEqual({ textBytes, shortLines });
  });

  const part = "--x\r\nContent-Type: text/plain\r\n\r\n";
  it.each<[string, () => Buffer, RegExp | undefined]>([
    ["an honest mail", () => Buffer.from(`Subject: x\r\n\r\n${words}`), undefined],
    ["39 MB of base64", () => Buffer.from(`${line}\r\n`.repeat(500_000)), undefined],
    [
      "5 MB of words",
      () => Buffer.from(`${words}\r\n`.repeat(100_000)),
      /bytes besides base64, and a mail may have 5242880/,
    ],
    ["50,001 short lines", () => Buffer.from("a\r\n".repeat(50_001)), /50001 short lines/],
    [
      "5,000 parts",
      () => Buffer.from(`Content-Type: multipart/mixed; boundary="x"\r\n\r\n${part.repeat(5_000)}`),
      undefined,
    ],
    [
      "5,001 parts",
      () => Buffer.from(`Content-Type: multipart/mixed; boundary="x"\r\n\r\n${part.repeat(5_001)}`),
      /5000 parts/,
    ],
    [
      "dashes without a boundary",
      () => Buffer.from(`boundary=x\r\n\r\n${"--y and more of the line\r\n".repeat(6_000)}`),
      undefined,
    ],
    [
      "501 boundaries",
      () => Buffer.from(Array.from({ length: 501 }, (_, at) => `boundary=b${at}\r\n`).join("")),
      /more than 500 times/,
    ],
    ["an empty mail", () => Buffer.alloc(0), /^it is empty$/],
    [
      "a mail with one byte too many",
      () => Buffer.alloc(largestMailBytes + 1),
      /41943041 bytes, and a mail may have 41943040/,
    ],
  ])("decides whether %s may be parsed: case %#", (_what, make, reason) => {
    const refused = guardProblem(make());
    if (reason === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(reason);
  });
});
