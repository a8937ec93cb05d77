import fc from "fast-check";
import { expect, test } from "vitest";
import { readMultipart } from "../../../packages/local/src/e2b/multipart.ts";

const TYPE = "multipart/form-data; boundary=B";

async function* inPieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function parse(bytes: Buffer, size: number, type = TYPE) {
  const parts = [];
  for await (const { name, filename, body } of readMultipart(type, inPieces(bytes, size))) {
    const chunks = [];
    for await (const chunk of body) chunks.push(chunk);
    parts.push({ name, filename, text: Buffer.concat(chunks).toString("latin1") });
  }
  return parts;
}

function form(bodies: string[]): Buffer {
  const parts = bodies.map(
    (body, index) => `--B\r\nContent-Disposition: form-data; name="file"; filename="/f ${index}"\r\n\r\n${body}\r\n`,
  );
  return Buffer.from(`${parts.join("")}--B--\r\n`, "latin1");
}

test("finds the same parts however the bytes are cut", async () => {
  const body = fc
    .array(fc.constantFrom("\r", "\n", "-", "--", "B", "--C", "\r\n--", "x", "\u00ff"))
    .map((all) => all.join(""));
  const safe = body.filter((text) => !`\r\n${text}`.includes("\r\n--B"));
  await fc.assert(
    fc.asyncProperty(fc.array(safe, { maxLength: 4 }), fc.integer({ min: 1, max: 40 }), async (bodies, size) => {
      const parts = await parse(form(bodies), size);
      expect(parts).toEqual(bodies.map((text, index) => ({ name: "file", filename: `/f ${index}`, text })));
    }),
  );
});

test("steps over what the consumer does not read", async () => {
  const names = [];
  for await (const part of readMultipart(TYPE, inPieces(form(["x".repeat(1000), "y"]), 7))) names.push(part.filename);
  expect(names).toEqual(["/f 0", "/f 1"]);
});

test.each([
  ["ends in the middle", form(["abc"]).subarray(0, 70), TYPE, "it ends in the middle of a part"],
  ["has no boundary", form(["abc"]), "multipart/form-data", "names no boundary"],
])("refuses a form that %s", async (_, bytes, type, message) => {
  await expect(parse(bytes, 10, type)).rejects.toThrow(message);
});
