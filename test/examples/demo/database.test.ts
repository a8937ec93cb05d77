import { describe, expect, it } from "vitest";
import { databaseAt } from "../../../packages/examples/demo/database.ts";

describe("the address of a database", () => {
  it.each([
    [
      "postgres://ann:s%40cret@db.example.com:6543/books?sslmode=require",
      { host: "db.example.com", port: 6543, name: "books", user: "ann", password: "s@cret", sslmode: "require" },
    ],
    [
      "postgresql://ann:x@localhost",
      { host: "localhost", port: 5432, name: "ann", user: "ann", password: "x", sslmode: "prefer" },
    ],
  ])("%s contains the server and the user", (url, database) => {
    expect(databaseAt(url)).toEqual(database);
  });

  it.each(["books", "mysql://ann@db/books", "postgres:///books"])(
    "%s is refused with an example of a valid one",
    (url) => {
      expect(() => databaseAt(url)).toThrow(/DATABASE_URL is no address such as postgres:/);
    },
  );
});
