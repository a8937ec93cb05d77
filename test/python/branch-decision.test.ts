import { setsBranchDecision } from "@nova/python";
import { expect, it } from "vitest";

it.each([
  ["it sets another key", 'context["decision"] = context["total"] > 1000'],
  ["it misspells the key", "context['branch_decison'] = context.get('has_pdf', False)"],
  ["it sets a name of its own", 'decision = "high" if context["total"] > 1000 else "low"'],
  ["it only prints for people", 'print("total", context["total"])'],
  ["it only looks whether a key is there", 'ok = "pdf" in context'],
  ["a comment alone says the name", '# sets context["branch_decision"]\nx = context["a"]'],
  ["nothing is there", ""],
])("says no where %s", (_, source) => {
  expect(setsBranchDecision(source)).toBe(false);
});

it.each([
  ["it sets the key", "context['branch_decision'] = True"],
  ["it may update anything", "context.update(result)"],
  ["it hands the context on", "from mylib import decide\ndecide(context)"],
  ["it has the context under another name", "c = context\nc[name] = 1"],
  ["it makes up a key", 'context["branch_" + "decision"] = 1'],
  ["it sets a key that it computes", "context[key] = 1"],
  ["it formats a key", 'context[f"{a}_decision"] = 1'],
  ["it merges", "context |= answer"],
  ["it prints a result", "print(json.dumps(answer))"],
  ["it runs made-up code", "exec(program)"],
  ["it reaches globals", "globals()[name][key] = 1"],
  ["it sets in a loop over it", "for k in context.keys(): context[k] = 1"],
])("does not say no where %s", (_, source) => {
  expect(setsBranchDecision(source)).toBe(true);
});

it.each(["def decide(c): c['branch_decision'] = 1", "import json\ndef answer(d): print(json.dumps(d))"])(
  "does not say no where lib may do it: %s",
  (module) => {
    expect(setsBranchDecision("import decide", { "decide.py": module })).toBe(true);
  },
);
