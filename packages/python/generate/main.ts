import { writeFileSync } from "node:fs";
import { findingsPage } from "./findings-page.ts";

writeFileSync(new URL("../../../docs/python-findings.md", import.meta.url), findingsPage());
