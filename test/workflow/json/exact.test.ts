import { keepingDigits, textOfJson } from "@nova/workflow";
import { expect, it } from "vitest";

it.each(["{}", '{"a":1,"b":[-2.5,{"c":1e+200}],"d":"1e2","e":null}', '{"__proto__":{"a":1}}'])(
  "%s is an object, which says the same",
  (text) => {
    expect(keepingDigits(text)).toEqual(JSON.parse(text));
    expect(textOfJson(keepingDigits(text))).toBe(text);
  },
);

it.each(["9007199254740993", "12345678901234567890", "850.0", "1e2", "-0", "1E-200", "1e400", "0.10"])(
  "%s stays unchanged inside any other JSON",
  (number) => {
    expect(keepingDigits(`{ "n" : [ ${number} ] }`)).toBe(`{"n":[${number}]}`);
  },
);

it("blanks make no difference", () => {
  expect(keepingDigits('{ "a" :\n 1 }')).toEqual({ a: 1 });
});
