import { expect, it } from "vitest";
import { junitText } from "../../../packages/cli/src/commands/test.ts";

it("junitText writes valid XML for tests with any values", () => {
  const keys = [{ key: "a", recorded: '"<b>\\u0007&]]>"', now: null }];
  const text = junitText('x"y', [
    { name: "one", status: "passed", first_difference: null, ms: 1500 },
    { name: "two", status: "failed", first_difference: { place: "n", message: "it\nis\u0000 other", keys }, ms: 2 },
    { name: "three", status: "stale", first_difference: { place: "n", message: "old", keys: [] }, ms: 0 },
  ]);
  expect(text).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="x&quot;y" tests="3" failures="2" errors="0" time="1.502">
    <testcase classname="x&quot;y" name="one" time="1.500"/>
    <testcase classname="x&quot;y" name="two" time="0.002">
      <failure type="failed" message="it&#10;is\ufffd other">a
- &quot;&lt;b&gt;\\u0007&amp;]]&gt;&quot;
+ (not set)</failure>
    </testcase>
    <testcase classname="x&quot;y" name="three" time="0.000">
      <failure type="stale" message="old"></failure>
    </testcase>
  </testsuite>
</testsuites>
`);
});
