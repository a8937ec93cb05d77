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

/** Stored code for a task; `digit` distinguishes generations. */
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
    ["is none where nothing was kept", {}, [], null],
    ["is what was kept for the same", {}, [generation("1")], "total = 1"],
    ["is the newest of several", {}, [generation("1"), generation("3"), generation("2")], "total = 3"],
    ["is no candidate", {}, [generation("1", { status: "candidate" })], null],
    ["is nothing that was replaced", {}, [generation("2", { status: "replaced" }), generation("1")], "total = 1"],
    ["is none after another prompt", { executor: { prompt: "Else" } }, [generation("1")], null],
    ["is none for an input of another type", { input: '{"lines": "1"}' }, [generation("1")], null],
    [
      "is older code that fits",
      {},
      [generation("2", {}, { executor: { prompt: "Else" } }), generation("1")],
      "total = 1",
    ],
    ["is what is locked, before what is newer", lockWith(generation("1")), [generation("2")], "total = 1"],
    [
      "is what was kept where what is locked is for something else",
      lockWith(generation("1", {}, { executor: { prompt: "Else" } })),
      [generation("2")],
      "total = 2",
    ],
    ["is what was kept where another node is locked", { workflow: { lock: {} } }, [generation("1")], "total = 1"],
  ])("%s", (_, changes, generations, code) => {
    expect(choosePinned(taskWith(changes), generations, generator)?.code ?? null).toBe(code);
  });

  it("is never code whose key does not match its ingredients", () => {
    const forged = generation("1", { key: "0".repeat(64) });
    expect(choosePinned(taskWith(), [forged], generator)).toBeNull();
  });

  it("is not found under names that every object has", () => {
    const task = taskWith({ workflow: { lock: {} } });
    expect(choosePinned({ ...task, node: { ...task.node, id: "constructor" } }, [], generator)).toBeNull();
  });
});

describe("a frozen run", () => {
  const frozen = { frozen: true };

  it("runs stored code if the workflow has no lock", () => {
    expect(choosePinned(taskWith(frozen), [generation("1")], generator)?.code).toBe("total = 1");
  });

  it("runs only locked code if there is a lock, so that it behaves the same everywhere", () => {
    const one = taskWith({ ...frozen, workflow: { lock: {} } });
    expect(choosePinned(one, [generation("1")], generator)).toBeNull();
    expect(choosePinned(taskWith({ ...frozen, ...lockWith(generation("1")) }), [], generator)?.code).toBe("total = 1");
  });

  it.each<[string, TaskChanges, Generation[], RegExp]>([
    ["there is none", {}, [], /no locked code.*nova run.*nova lock/],
    [
      "it was written for another prompt",
      { ...lockWith(generation("1")), executor: { prompt: "Else" } },
      [generation("1")],
      /changed since: the prompt -.*nova lock/,
    ],
    [
      "it reads something else",
      { ...lockWith(generation("1")), input: '{"lines": "1, 2"}' },
      [],
      /changed since: lines \(list then, string now\)/,
    ],
    [
      "nobody has approved it",
      { workflow: { approval: "required", ...lockWith(generation("1")).workflow } },
      [],
      /nobody has approved.*nova lock approve <folder> sum/,
    ],
    [
      "its key is that of something else",
      {},
      [generation("1", { status: "candidate", key: "0".repeat(64) })],
      /no run has proven/,
    ],
    [
      "code was replaced, and nothing is in its place",
      {},
      [generation("1", { status: "replaced", ingredients: generation("1").ingredients })],
      /no run has proven/,
    ],
  ])("explains the missing code if %s", (_, changes, generations, sentence) => {
    const task = taskWith({ ...frozen, ...changes });
    expect(choosePinned(task, generations, generator)).toBeNull();
    expect(explainMiss(task, generations, generator)).toMatch(sentence);
  });
});

describe("a node whose code is written again", () => {
  const fresh = { fresh: true };

  it.each<[string, TaskChanges, Generation[]]>([
    ["what was kept", {}, [generation("1", { provenBy: "exec_00" })]],
    ["what is locked", lockWith(generation("1", { approved })), []],
    ["what is locked and was kept", lockWith(generation("1")), [generation("1"), generation("2")]],
  ])("does not run %s", (_, changes, generations) => {
    expect(choosePinned(taskWith({ ...changes, ...fresh }), generations, generator)).toBeNull();
  });

  it("runs code that its own execution has proven, so that loops and items write it once", () => {
    const own = generation("2", { provenBy: "exec_01" });
    const task = taskWith({ ...lockWith(generation("1")), ...fresh });
    expect(choosePinned(task, [own, generation("3")], generator)?.code).toBe("total = 2");
  });

  it("explains the missing code in a frozen deployment", () => {
    const task = taskWith({ ...fresh, frozen: true });
    expect(choosePinned(task, [generation("1")], generator)).toBeNull();
    expect(explainMiss(task, [generation("1")], generator)).toMatch(/no model may be asked here.*without fresh/);
  });
});

describe("a workflow that requires approval", () => {
  const required = { workflow: { approval: "required" } } as const;

  it("runs only approved code, even if newer code exists", () => {
    const generations = [generation("1", { approved }), generation("2")];
    expect(choosePinned(taskWith(required), generations, generator)?.code).toBe("total = 1");
  });

  it("requires approval of locked code too", () => {
    const locked = (one: Generation) => ({ workflow: { ...required.workflow, ...lockWith(one).workflow } });
    expect(choosePinned(taskWith(locked(generation("1"))), [], generator)).toBeNull();
    expect(choosePinned(taskWith(locked(generation("1", { approved }))), [], generator)?.code).toBe("total = 1");
  });
});

describe("the code with which an earlier delivery started", () => {
  it("is found after newer code has replaced it", () => {
    const before = generation("1");
    const id = choosePinned(taskWith(), [before], generator)?.generation ?? "";
    const now = [{ ...before, status: "replaced" as const }, generation("2")];
    expect(findPinned(taskWith(), now, id)).toEqual({ generation: id, code: "total = 1" });
  });

  it("is found in the workflow's lock", () => {
    const task = taskWith(lockWith(generation("1")));
    const pinned = choosePinned(task, [], generator);
    expect(findPinned(task, [], pinned?.generation ?? "")).toEqual(pinned);
  });

  it("is reported as removed if it is missing", () => {
    expect(() => findPinned(taskWith(), [generation("1")], "gone")).toThrow(/began with was removed/);
  });
});

const ingredients = ingredientsOf(taskWith(), generator, written);

function changed(changes: TaskChanges, today = generator) {
  return findChanges({ ingredients }, currentIngredients(taskWith(changes), today, ingredients));
}

describe("findChanges", () => {
  it("returns no changes for equal ingredients", () => {
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
  ])("names the changed ingredient of %j", (changes, ingredient, text, was, is) => {
    const [found, ...more] = changed(changes);
    expect([found, more]).toEqual([{ ingredient, was, is }, []]);
    expect(found && changeText(found)).toBe(text);
  });

  it.each([
    [{ ...generator, version: "2" }, "NOVA's code generator"],
    [{ ...generator, settings: "high" }, "the model's settings"],
    [generatorWith({}), 'the guide "money"'],
  ])("names the changed part of %j", (today, text) => {
    expect(changed({}, today).map(changeText)).toEqual([text]);
  });

  it("names a new module", () => {
    const [found] = changed({ workflow: { lib: { "mails.py": "a = 1" } } });
    expect(found).toMatchObject({ ingredient: "lib.mails.py", was: null, is: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(found && changeText(found)).toBe("lib/mails.py");
  });

  it("names everything that has changed", () => {
    expect(changed({ executor: { prompt: "Else" }, workflow: { requirements: ["a"] } })).toHaveLength(2);
  });
});
