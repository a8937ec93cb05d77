import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { Guests } from "../../../packages/local/src/cloud/guests.ts";

const connection = () => new EventEmitter() as ServerResponse;

it("lets an owner that only wanted to know something drive executions from the first guest on", () => {
  const guests = new Guests();
  let calls = 0;
  guests.onFirst(() => {
    calls += 1;
  });
  expect(calls).toBe(0);
  guests.admit(connection());
  guests.admit(connection());
  expect([calls, guests.count]).toEqual([1, 2]);
});
