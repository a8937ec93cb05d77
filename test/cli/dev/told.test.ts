import { expect, it } from "vitest";
import { held, type Teller } from "../../../packages/cli/src/dev/told.ts";

function listed(lines: string[]): Teller {
  return {
    published: ({ folder }) => void lines.push(`published ${folder}`),
    step: ({ execution, state }) => void lines.push(`${state} ${execution}`),
    ended: ({ id }) => void lines.push(`ended ${id}`),
  };
}

it("says what happened before the greeting behind it, in order, and the rest at once", () => {
  const lines: string[] = [];
  const tell = held(listed(lines));
  tell.ended({ id: "exec_1" } as never);
  tell.step({ execution: "exec_2", node: "a", state: "started" });
  tell.published({ folder: "greeting" } as never);
  expect(lines).toEqual([]);
  tell.release();
  expect(lines).toEqual(["ended exec_1", "started exec_2", "published greeting"]);
  tell.step({ execution: "exec_2", node: "a", state: "succeeded" });
  expect(lines.at(-1)).toBe("succeeded exec_2");
  tell.release();
  expect(lines).toHaveLength(4);
});
