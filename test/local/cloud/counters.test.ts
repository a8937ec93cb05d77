import { describe, expect, it } from "vitest";
import { CounterBook } from "../../../packages/local/src/cloud/counting.ts";

const one = "exec_01KATESTTESTTESTTESTTESTT1";
const two = "exec_01KATESTTESTTESTTESTTESTT2";

describe("the counters of an execution", () => {
  it("count the requests that name it, each once, with what they store", () => {
    const book = new CounterBook();
    book.countAws("dynamodb", `{"pk":"${one}#","id":"${one}"}`, 100);
    book.countAws("dynamodb", `{"pk":"${one}#"}`, 0);
    book.countAws("s3", `/nova/blobs/default/${one}/abc`, 5_000);
    book.countAws("states", `{"name":"${two}"}`, 0);
    book.countSandbox(`{"metadata":{"execution":"${one}"}}`);
    expect(book.of(one)).toEqual({
      aws_calls: { dynamodb: 2, s3: 1, states: 0 },
      sandbox_calls: 1,
      bytes_stored: 5_100,
    });
    expect(book.of(two).aws_calls).toEqual({ dynamodb: 0, s3: 0, states: 1 });
  });

  it("are zero for one that nobody named", () => {
    expect(new CounterBook().of(one)).toEqual({
      aws_calls: { dynamodb: 0, s3: 0, states: 0 },
      sandbox_calls: 0,
      bytes_stored: 0,
    });
  });
});
