/**
 * Copies the pictures of docs/ from `test-results`, where the browser tests save them. Run `npx vitest run test/console
 * test/verify` first.
 */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** The name of each picture in docs/, and of the screenshot. */
const pictures = {
  "auditor-broken": "auditor-broken",
  "auditor-valid": "auditor-valid",
  "console-fix": "fix",
  "console-map": "run-map-dark-desk",
  "console-overview": "overview-light-desk",
  "console-run": "run-failed-light-desk",
  "console-session": "build-light-desk",
  "console-task": "run-waiting-light-desk",
};

for (const [picture, screenshot] of Object.entries(pictures))
  await copyFile(join(root, `test-results/${screenshot}.png`), join(root, `docs/${picture}.png`));
