import { createHash } from "node:crypto";
import { hashTree, pathInTree } from "@nova/engine";
import { describe, expect, it } from "vitest";

/**
 * Eight leaves, and the roots of the trees of the first one to eight leaves, from Google's certificate-transparency
 * tests.
 */
const leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"].map(
  (hex) => Buffer.from(hex, "hex"),
);
const roots = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
/** Audit paths from the same tests: each has the index of a leaf, the size of the tree, and the path. */
const paths: [index: number, size: number, path: string[]][] = [
  [0, 1, []],
  [
    0,
    8,
    [
      "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
  ],
  [
    5,
    8,
    [
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
  ],
  [2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]],
  [
    1,
    5,
    [
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
  ],
];

const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();

const half = (size: number) => 2 ** Math.floor(Math.log2(size - 1));

/** Computes roots and audit paths of these leaves by recursion, as section 2.1 of RFC 6962 defines them. */
class RfcTree {
  readonly #leaves: readonly Uint8Array[];
  readonly #known = new Map<string, Buffer>();

  constructor(leaves: readonly Uint8Array[]) {
    this.#leaves = leaves;
  }

  root(from = 0, to = this.#leaves.length): Buffer {
    const known = this.#known.get(`${from}-${to}`) ?? this.#root(from, to);
    this.#known.set(`${from}-${to}`, known);
    return known;
  }

  #root(from: number, to: number): Buffer {
    if (to - from === 1) return sha256(Buffer.of(0), this.#leaves[from] as Uint8Array);
    const k = from + half(to - from);
    return sha256(Buffer.of(1), this.root(from, k), this.root(k, to));
  }

  /** Computes the audit path of a leaf, as section 2.1.1 of RFC 6962 defines it. */
  path(index: number, from = 0, to = this.#leaves.length): Buffer[] {
    if (to - from === 1) return [];
    const k = from + half(to - from);
    return index < k
      ? [...this.path(index, from, k), this.root(k, to)]
      : [...this.path(index, k, to), this.root(from, k)];
  }
}

/**
 * Computes the root from a leaf and its audit path, as section 2.1.3.2 of RFC 9162 defines it. Returns undefined if the
 * path does not fit.
 */
function followPath(leaf: Uint8Array, index: number, size: number, path: readonly Buffer[]): Buffer | undefined {
  let [fn, sn, r] = [index, size - 1, sha256(Buffer.of(0), leaf)];
  for (const p of path) {
    if (sn === 0) return undefined;
    if (fn % 2 === 1 || fn === sn) {
      r = sha256(Buffer.of(1), p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else r = sha256(Buffer.of(1), r, p);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 ? r : undefined;
}

const sizes = Array.from({ length: 130 }, (_, at) => at + 1);
const leavesOf = (size: number) => Array.from({ length: size }, (_, at) => sha256(Buffer.from(`leaf ${at}`)));

describe("a hash tree", () => {
  it.each(roots.map((root, at) => [at + 1, root] as const))("of %i given leaves has the root %s", (size, root) => {
    expect(hashTree(leaves.slice(0, size)).toString("hex")).toBe(root);
  });

  it("without leaves has as its root the SHA-256 of an empty text", () => {
    expect(hashTree([]).toString("hex")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  it.each(paths)("has, from leaf %i of %i, the expected path to its root", (index, size, path) => {
    expect(pathInTree(leaves.slice(0, size), index).map((hash) => hash.toString("hex"))).toEqual(path);
  });

  it("of any size from 1 to 130 has the root and the paths that RFC 6962 defines", { tags: ["deep"] }, () => {
    for (const size of sizes) {
      const all = leavesOf(size);
      const rfc = new RfcTree(all);
      const root = hashTree(all).toString("hex");
      expect(root).toBe(rfc.root().toString("hex"));
      const wrong = Array.from(all.keys()).filter((index) => {
        const path = pathInTree(all, index);
        const isRfcs = Buffer.concat(path).equals(Buffer.concat(rfc.path(index)));
        return !isRfcs || followPath(all[index] as Buffer, index, size, path)?.toString("hex") !== root;
      });
      expect(wrong).toEqual([]);
    }
  });

  it.each([-1, 3, 0.5, Number.NaN])("of 3 leaves has no path for leaf %d, which does not exist", (index) => {
    expect(() => pathInTree(leavesOf(3), index)).toThrow("no leaf");
  });
});
