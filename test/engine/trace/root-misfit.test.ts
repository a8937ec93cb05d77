import { readRoot, type StoredRoot, sha256, signRoot, verifyExecution } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { action, flow } from "../../support/engine/flows.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { Story, succeeds } from "../../support/engine/story.ts";
import { memoryKeyPair } from "../../support/key-pair.ts";

const workflow = flow(
  "rooted",
  [action("a")],
  [
    ["start", "a"],
    ["a", "end"],
  ],
);

/** Executes a workflow, and makes two trees. The run is the leaf with index 1 in the second tree. */
async function rooted() {
  const story = await new Story(workflow, { a: [succeeds("a", "1")] }).start("{}");
  await story.everything();
  const { world, id } = story;
  const ports = world.ports(atOnce);
  const { tip = "" } = (await ports.executions.get(id)) ?? {};
  const leaves = [
    { execution: "exec_other", hash: sha256("other") },
    { execution: id, hash: tip },
  ];
  const store = world.roots.store(atOnce);
  const first = await signRoot(ports, undefined, leaves.slice(0, 1));
  const second = await signRoot(ports, first, leaves);
  for (const root of [first, second]) {
    await store.createTree(root, leaves.slice(0, root.number));
    await store.create({ number: root.number, text: root.text, signature: root.signature });
  }
  await ports.chain.putNote(id, { kind: "root", number: 2, index: 1 });
  return { ports, world, id, second, leaves, tip, verify: () => verifyExecution(ports, id) };
}

type Rooted = Awaited<ReturnType<typeof rooted>>;
const change = ({ world }: Rooted, number: number, changes: Partial<StoredRoot>) => {
  world.roots.roots.set(number, { ...(world.roots.roots.get(number) as StoredRoot), ...changes });
};

describe("a run with a leaf in a Merkle tree", () => {
  it("is anchored if the tree contains the hash of its last entry", async () => {
    expect(await (await rooted()).verify()).toMatchObject({ state: "anchored" });
  });

  it.each<[string, RegExp, (of: Rooted) => unknown]>([
    ["its root is missing", /names root 2, which does not exist/, ({ world }) => world.roots.roots.delete(2)],
    [
      "its note names another leaf",
      /leaf 0 of tree 2 is not this run/,
      ({ world, id }) => world.chain.notes.set(id, [{ kind: "root", number: 2, index: 0 }]),
    ],
    [
      "its note names a leaf that the tree does not have",
      /leaf 2 of tree 2 is not this run/,
      ({ world, id }) => world.chain.notes.set(id, [{ kind: "root", number: 2, index: 2 }]),
    ],
    [
      "its note names another tree",
      /leaf 1 of tree 1 is not this run/,
      ({ world, id }) => world.chain.notes.set(id, [{ kind: "root", number: 1, index: 1 }]),
    ],
    [
      "the signature of its root was changed",
      /signature of root 2 is not valid/,
      (of) => change(of, 2, { signature: of.second.signature.replace(/.$/, (last) => (last === "A" ? "B" : "A")) }),
    ],
    [
      "the text of its root was changed",
      /signature of root 2 is not valid/,
      (of) => change(of, 2, { text: of.second.text.replace(/"at":"20/, '"at":"19') }),
    ],
    ["the text of its root is another text", /not as NOVA wrote it/, (of) => change(of, 2, { text: "{}" })],
    [
      "the root before it was changed",
      /does not name the root before/,
      (of) => change(of, 1, { text: of.second.text.replace('"number":2', '"number":1') }),
    ],
    ["the root before it is missing", /does not name the root before/, ({ world }) => world.roots.roots.delete(1)],
    [
      "the leaves of its tree were changed",
      /leaves of tree 2 are others/,
      ({ world, second }) => {
        world.roots.trees.set(second.tree, [{ execution: "exec_other", hash: sha256("x") }]);
      },
    ],
    [
      "its tree has another end of the run, as after the chain was rewritten by a person with the signing key",
      /tree 2 has another end of this run/,
      async (of) => {
        const { world, ports, leaves, id } = of;
        const forged = leaves.map((leaf) => (leaf.execution === id ? { ...leaf, hash: sha256("before") } : leaf));
        const root = await signRoot(ports, readRoot(world.roots.roots.get(1) as StoredRoot), forged);
        world.roots.trees.set(root.tree, forged);
        change(of, 2, { text: root.text, signature: root.signature });
      },
    ],
    [
      "another key pair signed its root",
      /signature of root 2 is not valid/,
      async (of) => {
        const { ports, leaves, world } = of;
        const before = readRoot(world.roots.roots.get(1) as StoredRoot);
        const root = await signRoot({ ...ports, keyPair: memoryKeyPair() }, before, leaves);
        change(of, 2, { text: root.text, signature: root.signature });
      },
    ],
  ])("is broken if %s", async (_, says, attack) => {
    const of = await rooted();
    await attack(of);
    const { state, problem } = await of.verify();
    expect([state, problem?.message]).toEqual(["broken", expect.stringMatching(says)]);
    expect(problem?.seq).toBe(3);
  });

  it("is anchored even if an attacker removes its note", async () => {
    const of = await rooted();
    of.world.chain.notes.delete(of.id);
    expect((await of.verify()).state).toBe("anchored");
  });
});
