import { type Condition, conditionLabel } from "@nova/workflow";
import fc from "fast-check";

/** A random workflow as a tree. The module `graphs.ts` converts the tree into nodes and edges. */
export interface Program {
  /** The parallel branches after the start node, which join at `block`. Empty if `block` follows the start directly. */
  first: Block[];
  block: Block;
  ends: number;
}

/**
 * A sequence of pieces. Each piece becomes a node and leads to the next piece. The last piece leads to the node after
 * the block.
 */
export type Block = Piece[];

export type Piece = Step | Choice | Each;

/** A random number that chooses a target: a later piece of the same block, or the node after the block. */
type Jump = number;

interface Failing {
  onError: Jump | null;
}

export interface Step extends Failing {
  kind: "action" | "until" | "event" | "child";
  /** The parallel branches after the piece. Empty if one node follows it. */
  branches: Block[];
  /** True for an action whose code may outlive a Lambda. */
  isLong: boolean;
}

export interface Choice extends Failing {
  kind: "decision" | "approval";
  /** The conditions of the edges. For an approval, they are texts. */
  conditions: Condition[];
  hasDefault: boolean;
  hasTimeout: boolean;
  /** The targets of the edges, in the order of their conditions. All targets are after this piece. */
  targets: Jump[];
  /**
   * An edge that leads back to an earlier piece of the block, or to this piece. With `detour` it leads back through a
   * separate node.
   */
  loop: { back: Jump; max: number; detour: boolean } | null;
}

export interface Each extends Failing {
  kind: "map";
  body: Block;
  tolerated: { count: number } | { percent: number } | null;
  maxConcurrency: number;
  branches: Block[];
}

const condition = fc.oneof(
  fc.constantFrom<Condition>(true, false, "yes", "no", "Ja, bitte", "$.decision", 0, 1, -2.5, 1e21),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }),
);

const conditions = fc
  .uniqueArray(condition, { minLength: 1, maxLength: 4, selector: conditionLabel })
  .map((all) => all.filter((one) => !["default", "timeout"].includes(conditionLabel(one))))
  .filter((all) => all.length > 0);

const jump = fc.nat({ max: 20 });
const onError = fc.option(jump, { nil: null, freq: 2 });

const choice: fc.Arbitrary<Choice> = fc.record({
  kind: fc.constantFrom("decision" as const, "approval" as const),
  conditions,
  hasDefault: fc.boolean(),
  hasTimeout: fc.boolean(),
  targets: fc.array(jump, { minLength: 6, maxLength: 6 }),
  loop: fc.option(fc.record({ back: jump, max: fc.integer({ min: 1, max: 3 }), detour: fc.boolean() }), { nil: null }),
  onError,
});

const tolerated = fc.oneof(
  fc.constant(null),
  fc.record({ count: fc.nat({ max: 2 }) }),
  fc.record({ percent: fc.constantFrom(10, 50, 100) }),
);

const plainStep = fc.record({
  kind: fc.constantFrom("action" as const, "until" as const, "event" as const, "child" as const),
  branches: fc.constant<Block[]>([]),
  isLong: fc.boolean(),
  onError,
});

/** Generates blocks with forks and maps that are nested up to `depth`. */
function blocks(depth: number, range: { minLength: number; maxLength: number }): fc.Arbitrary<Block> {
  if (depth === 0) return fc.array(fc.oneof(plainStep, choice), range);
  const inner = blocks(depth - 1, { minLength: 1, maxLength: 3 });
  const several = fc.array(inner, { minLength: 2, maxLength: 3 });
  const fan = fc.record({
    kind: fc.constantFrom("action" as const, "until" as const, "child" as const),
    isLong: fc.boolean(),
    onError,
    branches: several,
  });
  const each: fc.Arbitrary<Each> = fc.record({
    kind: fc.constant("map" as const),
    body: inner,
    tolerated,
    onError,
    maxConcurrency: fc.integer({ min: 1, max: 3 }),
    branches: fc.oneof({ weight: 3, arbitrary: fc.constant<Block[]>([]) }, { weight: 1, arbitrary: several }),
  });
  const piece = fc.oneof<fc.WeightedArbitrary<Piece>[]>(
    { weight: 3, arbitrary: plainStep },
    { weight: 2, arbitrary: choice },
    { weight: 2, arbitrary: fan },
    { weight: 2, arbitrary: each },
  );
  return fc.array(piece, range);
}

export const programs: fc.Arbitrary<Program> = fc.record({
  first: fc.oneof(
    { weight: 5, arbitrary: fc.constant<Block[]>([]) },
    { weight: 1, arbitrary: fc.array(blocks(1, { minLength: 1, maxLength: 2 }), { minLength: 2, maxLength: 3 }) },
  ),
  block: blocks(2, { minLength: 0, maxLength: 6 }),
  ends: fc.integer({ min: 1, max: 2 }),
});
