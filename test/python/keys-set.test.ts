import { keysSet } from "@nova/python";
import { expect, it } from "vitest";

const wanted = /^(error|\$.*)$/;

it.each([
  ["a plain key", "context['error'] = 1", ["error 1:1"]],
  ["each key once", 'x = 1; context["error"] = 1\ncontext["error"] = 2; context["$a"] += 1', ["error 1:8", "$a 2:23"]],
  ["one of several targets", "a, context['error'] = 1, 2", ["error 1:4"]],
  ["a key set in a function", "def f():\n    context['error'] = 1", ["error 2:5"]],
])("finds %s", (_what, source, places) => {
  expect(keysSet(source, wanted).map(({ key, line, column }) => `${key} ${line}:${column}`)).toEqual(places);
});

it.each([
  ["is read", "x = context['error']; context['errors'] = x"],
  ["is changed inside", "context['error']['seen'] = True"],
  ["is deleted", "del context['error']"],
  ["is compared", "x = context['error'] == 1"],
  ["belongs to another dict", "x = context['error']\nx['error'] = 1"],
  ["is only text", "x = \"context['error'] = 1\""],
])("finds none where the key %s", (_what, source) => {
  expect(keysSet(source, wanted)).toEqual([]);
});
