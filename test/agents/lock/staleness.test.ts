import { describe, expect, it } from "vitest";
import { currentIngredients, ingredientsOf } from "../../../packages/agents/src/lock/ingredients.ts";
import { changeText, findChanges } from "../../../packages/agents/src/lock/staleness.ts";
import { generator, generatorWith, type TaskChanges, taskWith, written } from "./tasks.ts";

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
