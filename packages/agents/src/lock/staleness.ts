import type { Generation, PromptTask } from "@nova/engine";
import type { Ingredients } from "@nova/workflow";
import { allCandidates, waitsForApproval } from "./choose.ts";
import type { Generator } from "./generator.ts";
import { currentIngredients } from "./ingredients.ts";

/** A changed ingredient, or one changed part of it. */
export interface Change {
  /** `prompt`, `reads.order.total`, `guides.money`, `lib.mails.py` ... */
  ingredient: string;
  /** Null if it was absent. */
  was: string | null;
  is: string | null;
}

/** Lists the ingredients that have changed since code was written; none if its key is the same. */
export function findChanges({ ingredients }: { ingredients: Ingredients }, today: Ingredients): Change[] {
  const names = Object.keys(ingredients) as (keyof Ingredients)[];
  return names.flatMap((name) => changesOf(name, ingredients[name], today[name]));
}

function changesOf(name: string, was: Ingredients[keyof Ingredients], is: Ingredients[keyof Ingredients]): Change[] {
  if (isParts(was) && isParts(is)) {
    const parts = Array.from(new Set([...Object.keys(was), ...Object.keys(is)])).sort();
    return parts.flatMap((part) => change(`${name}.${part}`, was[part] ?? null, is[part] ?? null));
  }
  return change(name, textOf(was), textOf(is));
}

function change(ingredient: string, was: string | null, is: string | null): Change[] {
  return was === is ? [] : [{ ingredient, was, is }];
}

function isParts(value: Ingredients[keyof Ingredients]): value is Record<string, string> {
  return typeof value === "object" && !Array.isArray(value);
}

function textOf(value: Ingredients[keyof Ingredients]): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

const ingredientNames: Record<string, string> = {
  prompt: "the prompt",
  node_type: "the type of the node",
  edges: "the conditions of its edges",
  generator: "NOVA's code generator",
  model: "the model",
  settings: "the model's settings",
  template: "the sandbox template",
  requirements: "the requirements",
};

/** Describes a change for a sentence: `the prompt`, `the guide "money"`. */
export function changeText({ ingredient, was, is }: Change): string {
  const [name = "", ...rest] = ingredient.split(".");
  const part = rest.join(".");
  if (name === "guides") return `the guide "${part}"`;
  if (name === "lib") return `lib/${part}`;
  if (name === "reads") return `${part.replace(/\?$/, "")} (${was ?? "not read"} then, ${is ?? "not read"} now)`;
  return ingredientNames[name] ?? name;
}

/** Explains why a node without a model has no code to run, in one sentence with the way out. */
export function explainMiss(task: PromptTask, generations: readonly Generation[], generator: Generator): string {
  const written = "run it once with a model (nova run <folder>), then nova lock <folder>";
  if (task.fresh && task.frozen) {
    return "its code is to be written anew, and no model may be asked here - start the run without fresh, or set NOVA_FROZEN=0";
  }
  const all = allCandidates(task, generations);
  const [latest] = all;
  if (!latest) return `there is no locked code, and a frozen run asks no model - ${written}`;
  if (waitsForApproval(task, generations, generator)) {
    const wayOut = `look at it, then run nova lock approve <folder> ${task.node.id}`;
    return `nobody has approved its code, and this workflow runs only approved code - ${wayOut}`;
  }
  const changes = findChanges(latest, currentIngredients(task, generator, latest.ingredients)).map(changeText);
  if (changes.length === 0) return `no run has proven the code that was written for it - ${written}`;
  return `its locked code was written for something else, changed since: ${changes.join(", ")} - ${written}`;
}
