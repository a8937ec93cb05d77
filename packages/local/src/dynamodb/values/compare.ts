import { type AttributeMap, type AttributeValue, attribute, contentOf, membersOf, typeOf } from "./attribute-value.ts";
import { compareNumbers } from "./decimal.ts";

/** Numbers have one text each, and binaries too: equal values have equal texts. */
export function areEqual(a: AttributeValue, b: AttributeValue): boolean {
  if (typeOf(a) !== typeOf(b)) return false;
  const [setA, setB] = [membersOf(a), membersOf(b)];
  if (setA && setB) return setA.length === setB.length && setA.every((member) => setB.includes(member));
  if ("L" in a && "L" in b) return a.L.length === b.L.length && a.L.every((v, i) => areEqual(v, b.L[i] ?? { L: [] }));
  if ("M" in a && "M" in b) return areMapsEqual(a.M, b.M);
  return contentOf(a) === contentOf(b);
}

function areMapsEqual(a: AttributeMap, b: AttributeMap): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const [left, right] = [attribute(a, name), attribute(b, name)];
    return left !== undefined && right !== undefined && areEqual(left, right);
  });
}

/** Undefined where the two have no order: other types than S, N and B, or different ones. */
export function orderOf(a: AttributeValue, b: AttributeValue): number | undefined {
  if ("S" in a && "S" in b) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if ("N" in a && "N" in b) return compareNumbers(a.N, b.N);
  if ("B" in a && "B" in b) return Buffer.compare(Buffer.from(a.B, "base64"), Buffer.from(b.B, "base64"));
  return undefined;
}
