import type { Generation } from "@nova/engine";
import type { LockedCode } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import {
  changeText,
  choosePinned,
  explainMiss,
  findChanges,
  findPinned,
} from "../../../packages/agents/src/lock/choose.ts";
import { currentIngredients, generationKey, ingredientsOf } from "../../../packages/agents/src/lock/ingredients.ts";
import { generator, generatorWith, type TaskChanges, taskWith, written } from "./tasks.ts";

const approved = { by: "ada", at: "2026-11-22T11:00:00.000Z" };

/** Builds stored code for a task. Calls with different values of `digit` return different code. */
function generation(digit: string, fields: Partial<Generation> = {}, changes: TaskChanges = {}): Generation {
  const ingredients = ingredientsOf(taskWith(changes), generator, written);
  return {
    format: 1,
    workflowId: "bills",
    node: "sum",
    client: null,
    origin: "generated",
    status: "pinned",
    ingredients,
    key: generationKey(ingredients),
    code: `total = ${digit}`,
    codeHash: digit.repeat(64),
    model: written.model,
    cost: written.cost,
    createdAt: `2026-11-22T10:00:0${digit}.000Z`,
    ...fields,
  } as Generation;
}

function lockWith(one: Generation): { workflow: { lock: Record<string, LockedCode> } } {
  return { workflow: { lock: { sum: one } } };
}

describe("the pinned code of a node", () => {
  it.each<[string, TaskChanges, Generation[], string | null]>([
    ["does not exist if no code is stored", {}, [], null],
    ["is the code that was stored for the same prompt, models and types of input", {}, [generation("1")], "total = 1"],
    [
      "is the newest of several pieces of stored code that fit",
      {},
      [generation("1"), generation("3"), generation("2")],
      "total = 3",
    ],
    ["is never code that has not been proven (a candidate)", {}, [generation("1", { status: "candidate" })], null],
    ["is not code that was replaced", {}, [generation("2", { status: "replaced" }), generation("1")], "total = 1"],
    ["does not exist after a change of the prompt", { executor: { prompt: "Else" } }, [generation("1")], null],
    ["does not exist for an input of another type", { input: '{"lines": "1"}' }, [generation("1")], null],
    [
      "is older code if the newer code does not fit",
      {},
      [generation("2", {}, { executor: { prompt: "Else" } }), generation("1")],
      "total = 1",
    ],
    ["is the locked code rather than newer stored code", lockWith(generation("1")), [generation("2")], "total = 1"],
    [
      "is stored code if the locked code was written for another prompt",
      lockWith(generation("1", {}, { executor: { prompt: "Else" } })),
      [generation("2")],
      "total = 2",
    ],
    ["is stored code if the lock file lacks the node", { workflow: { lock: {} } }, [generation("1")], "total = 1"],
  ])("%s", (_, changes, generations, code) => {
    expect(choosePinned(taskWith(changes), generations, generator)?.code ?? null).toBe(code);
  });

  it("is used only if its stored key is the hash of its ingredients", () => {
    const forged = generation("1", { key: "0".repeat(64) });
    expect(choosePinned(taskWith(), [forged], generator)).toBeNull();
  });

  it("is null for a new node with the id `constructor`, although every JavaScript object has a property of this name", () => {
    const task = taskWith({ workflow: { lock: {} } });
    expect(choosePinned({ ...task, node: { ...task.node, id: "constructor" } }, [], generator)).toBeNull();
  });
});

describe("a frozen run", () => {
  const frozen = { frozen: true };

  it("runs stored code if the workflow has no lock", () => {
    expect(choosePinned(taskWith(frozen), [generation("1")], generator)?.code).toBe("total = 1");
  });

  it("runs only locked code if the workflow has a lock, so that the run behaves the same everywhere", () => {
    const one = taskWith({ ...frozen, workflow: { lock: {} } });
    expect(choosePinned(one, [generation("1")], generator)).toBeNull();
    expect(choosePinned(taskWith({ ...frozen, ...lockWith(generation("1")) }), [], generator)?.code).toBe("total = 1");
  });

  it.each<[string, TaskChanges, Generation[], RegExp]>([
    ["no code exists", {}, [], /no locked code.*nova run.*nova lock/],
    [
      "the locked code was written for another prompt",
      { ...lockWith(generation("1")), executor: { prompt: "Else" } },
      [generation("1")],
      /changed since: the prompt -.*nova lock/,
    ],
    [
      "the locked code reads a key whose type has changed",
      { ...lockWith(generation("1")), input: '{"lines": "1, 2"}' },
      [],
      /changed since: lines \(list then, string now\)/,
    ],
    [
      "the locked code is not approved",
      { workflow: { approval: "required", ...lockWith(generation("1")).workflow } },
      [],
      /nobody has approved.*nova lock approve <folder> sum/,
    ],
    [
      "the only stored code is a candidate that was made from another prompt",
      {},
      [generation("1", { status: "candidate", key: "0".repeat(64) })],
      /no run has proven/,
    ],
    [
      "the only stored code is marked as replaced",
      {},
      [generation("1", { status: "replaced", ingredients: generation("1").ingredients })],
      /no run has proven/,
    ],
  ])("explains why it has no code to run if %s", (_, changes, generations, sentence) => {
    const task = taskWith({ ...frozen, ...changes });
    expect(choosePinned(task, generations, generator)).toBeNull();
    expect(explainMiss(task, generations, generator)).toMatch(sentence);
  });
});

describe("a node whose code is written again, because `fresh` names the node,", () => {
  const fresh = { fresh: true };

  it.each<[string, TaskChanges, Generation[]]>([
    ["stored code", {}, [generation("1", { provenBy: "exec_00" })]],
    ["locked code", lockWith(generation("1", { approved })), []],
    ["code that is locked and stored", lockWith(generation("1")), [generation("1"), generation("2")]],
  ])("gets new code although it has %s", (_, changes, generations) => {
    expect(choosePinned(taskWith({ ...changes, ...fresh }), generations, generator)).toBeNull();
  });

  it("runs code that an earlier visit in the same run has proven, so that a loop or map writes the code only once", () => {
    const own = generation("2", { provenBy: "exec_01" });
    const task = taskWith({ ...lockWith(generation("1")), ...fresh });
    expect(choosePinned(task, [own, generation("3")], generator)?.code).toBe("total = 2");
  });

  it("runs no code in a frozen run, and the reason says to run without `fresh`", () => {
    const task = taskWith({ ...fresh, frozen: true });
    expect(choosePinned(task, [generation("1")], generator)).toBeNull();
    expect(explainMiss(task, [generation("1")], generator)).toMatch(/no model may be asked here.*without fresh/);
  });
});

describe("a workflow that requires approval", () => {
  const required = { workflow: { approval: "required" } } as const;

  it("runs only approved code, even if newer code is stored", () => {
    const generations = [generation("1", { approved }), generation("2")];
    expect(choosePinned(taskWith(required), generations, generator)?.code).toBe("total = 1");
  });

  it("runs locked code only after this code was approved", () => {
    const locked = (one: Generation) => ({ workflow: { ...required.workflow, ...lockWith(one).workflow } });
    expect(choosePinned(taskWith(locked(generation("1"))), [], generator)).toBeNull();
    expect(choosePinned(taskWith(locked(generation("1", { approved }))), [], generator)?.code).toBe("total = 1");
  });
});

describe("the code with which an earlier delivery of a node started", () => {
  it("is found in the store even after newer code has replaced it", () => {
    const before = generation("1");
    const id = choosePinned(taskWith(), [before], generator)?.generation ?? "";
    const now = [{ ...before, status: "replaced" as const }, generation("2")];
    expect(findPinned(taskWith(), now, id)).toEqual({ generation: id, code: "total = 1" });
  });

  it("is found in the lock of the workflow", () => {
    const task = taskWith(lockWith(generation("1")));
    const pinned = choosePinned(task, [], generator);
    expect(findPinned(task, [], pinned?.generation ?? "")).toEqual(pinned);
  });

  it("is reported as removed if it is missing both in the store and in the lock", () => {
    expect(() => findPinned(taskWith(), [generation("1")], "gone")).toThrow(/began with was removed/);
  });
});

const ingredients = ingredientsOf(taskWith(), generator, written);

function changed(changes: TaskChanges, today = generator) {
  return findChanges({ ingredients }, currentIngredients(taskWith(changes), today, ingredients));
}

describe("findChanges compares what two pieces of code were made from and", () => {
  it("returns no changes if nothing differs", () => {
    expect(changed({ input: '{"lines": [5], "more": 1}' })).toEqual([]);
  });

  it.each<[TaskChanges, string, string, string | null, string | null]>([
    [{ executor: { prompt: "Else" } }, "prompt", "the prompt", "Add up the lines.", "Else"],
    [{ workflow: { requirements: ["b", "a"] } }, "requirements", "the requirements", "", "a, b"],
    [{ node: { type: "decision" } }, "node_type", "the type of the node", "action", "decision"],
    [{ executor: { model: { default: "gpt-7" } } }, "model", "the model", "default", "gpt-7"],
    [{ input: '{"lines": 1}' }, "reads.lines", "lines (list then, number now)", "list", "number"],
    [{ input: "{}" }, "reads.lines", "lines (list then, absent now)", "list", "absent"],
    [
      { input: '{"lines": [], "order": {"discount": ""}}' },
      "reads.order.discount?",
      "order.discount (number then, string now)",
      "number",
      "string",
    ],
  ])("names the one thing that differs for %j", (changes, ingredient, text, was, is) => {
    const [found, ...more] = changed(changes);
    expect([found, more]).toEqual([{ ingredient, was, is }, []]);
    expect(found && changeText(found)).toBe(text);
  });

  it.each([
    [{ ...generator, version: "2" }, "NOVA's code generator"],
    [{ ...generator, settings: "high" }, "the model's settings"],
    [generatorWith({}), 'the guide "money"'],
  ])("names the changed part of the code generator for %j", (today, text) => {
    expect(changed({}, today).map(changeText)).toEqual([text]);
  });

  it("names a module that was added", () => {
    const [found] = changed({ workflow: { lib: { "mails.py": "a = 1" } } });
    expect(found).toMatchObject({ ingredient: "lib.mails.py", was: null, is: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(found && changeText(found)).toBe("lib/mails.py");
  });

  it("names everything that differs", () => {
    expect(changed({ executor: { prompt: "Else" }, workflow: { requirements: ["a"] } })).toHaveLength(2);
  });
});
