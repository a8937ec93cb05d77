import { ApiProblem } from "@nova/client";
import { Conflict, NotFound } from "@nova/service";
import { expect, it } from "vitest";
import { explain } from "../../../packages/cli/src/output/explain.ts";

it.each([
  ['there is no client "a" - GET /clients lists them', 'there is no client "a" - `nova clients list` lists them'],
  ['there is no key "k" - GET /keys lists them', 'there is no key "k" - `nova keys list` lists them'],
  [
    'there is no task "t" - GET /tasks lists those that wait',
    'there is no task "t" - `nova tasks` lists those that wait',
  ],
  [
    'there is no credential "c" here - GET lists them',
    'there is no credential "c" here - `nova credentials list` lists them',
  ],
  ['there is no session "s" - GET /sessions lists them', 'there is no session "s" - `nova session list` lists them'],
  [
    'workflow "w" has no version 9 - GET /workflows/w/versions lists them',
    'workflow "w" has no version 9 - `nova versions w` lists them',
  ],
  ["no such route - GET /openapi.json lists all routes", "no such route - GET /openapi.json lists all routes"],
])(
  "explain replaces a route in the API's message by the command for the route, if such a command exists: %j",
  (message, sentence) => {
    expect(explain(new NotFound(message))).toEqual({ sentence, code: 2 });
  },
);

it.each([
  [
    "a known error by its unchanged message",
    new Conflict("it is taken - choose another"),
    "it is taken - choose another",
    2,
  ],
  [
    "an unexpected error, and says how to learn more",
    new TypeError("x is y\nat z"),
    "TypeError: x is y - NOVA_DEBUG=1 shows where this came from",
    1,
  ],
  ["a server's refusal as an invalid input", new ApiProblem(422, { detail: "no such field" }), "no such field", 2],
  ["a server that cannot answer now as a failure", new ApiProblem(503, { detail: "try later" }), "try later", 1],
  ["a thrown value that is not an error", "odd", "odd", 1],
])("explain describes %s", (_what, error, sentence, code) => {
  expect(explain(error)).toEqual({ sentence, code });
});
