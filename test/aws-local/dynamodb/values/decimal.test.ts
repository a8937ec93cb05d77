import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addNumbers,
  canonicalNumber,
  compareNumbers,
  numberBytes,
  numberKey,
} from "../../../../packages/aws-local/src/dynamodb/values/decimal.ts";

test.each([
  ["1.50", "1.5"],
  ["+15E-1", "1.5"],
  ["-0", "0"],
  ["0.000", "0"],
  ["007", "7"],
  ["1e3", "1000"],
  [".5", "0.5"],
  ["12345678901234567890.12345678901234567", "12345678901234567890.12345678901234567"],
  ["-0.001", "-0.001"],
  ["9.9E125", `99${"0".repeat(124)}`],
  ["1E-130", `0.${"0".repeat(129)}1`],
])("the normal form of the DynamoDB number %s is %s", (given, canonical) => {
  expect(canonicalNumber(given)).toBe(canonical);
});

test.each([
  ["", "cannot be converted to a numeric value"],
  ["1x", "cannot be converted to a numeric value: 1x"],
  [" 1", "cannot be converted"],
  ["NaN", "cannot be converted"],
  ["1E126", "Number overflow"],
  ["1E-131", "Number underflow"],
  ["1".repeat(39), "more than 38 significant digits"],
])("%j is refused as a DynamoDB number", (given, message) => {
  expect(() => canonicalNumber(given)).toThrow(message);
});

test.each([
  ["1", "2", "3"],
  ["0.1", "0.2", "0.3"],
  ["9007199254740993", "1", "9007199254740994"],
  ["-1.5", "1.5", "0"],
  ["1e20", "0.00000000000000001", "100000000000000000000.00000000000000001"],
])("the sum of the DynamoDB numbers %s and %s is exactly %s", (a, b, sum) => {
  const [left, right] = [canonicalNumber(a), canonicalNumber(b)];
  expect(addNumbers(left, right)).toBe(sum);
});

test("a sum of DynamoDB numbers with more than 38 digits is refused", () => {
  expect(() => addNumbers("1E38".replace("E38", "0".repeat(38)), "0.1")).toThrow("38 significant digits");
});

const decimals = fc
  .tuple(fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }), fc.integer({ min: -80, max: 80 }))
  .map(([digits, power]) => canonicalNumber(`${digits}E${power}`));

test("the bytes of numeric DynamoDB keys sort like the numbers", () => {
  const scale = (text: string) => {
    const [whole = "", fraction = ""] = text.replace("-", "").split(".");
    const magnitude = BigInt(whole + fraction.padEnd(130, "0"));
    return text.startsWith("-") ? -magnitude : magnitude;
  };
  fc.assert(
    fc.property(decimals, decimals, (a, b) => {
      const order = scale(a) < scale(b) ? -1 : scale(a) > scale(b) ? 1 : 0;
      expect(Math.sign(Buffer.compare(numberKey(a), numberKey(b)))).toBe(order);
      expect(Math.sign(compareNumbers(a, b))).toBe(order);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["0", 1],
  ["7", 2],
  ["1000", 2],
  ["123", 3],
  ["-123", 4],
  ["0.05", 2],
])("the DynamoDB number %s counts as %i bytes", (text, bytes) => {
  expect(numberBytes(text)).toBe(bytes);
});
