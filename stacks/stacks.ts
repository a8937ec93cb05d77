import type { App } from "sst/constructs";
import { api } from "./api.ts";
import { console } from "./console.ts";
import { engine } from "./engine.ts";
import { monitoring } from "./monitoring.ts";
import { storage } from "./storage.ts";
import { triggers } from "./triggers.ts";

/** All that is deployed; each stack uses those before it. */
export function defineStacks(app: App): void {
  // Access logs come by a policy of the bucket; the older way needs access control lists, which are off.
  app.node.setContext("@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy", true);
  app.stack(storage).stack(engine).stack(triggers).stack(api).stack(console).stack(monitoring);
  // SST gives each stack a Lambda for custom resources (secrets, sites, source maps). We have none of these.
  for (const stack of app.node.children) stack.node.tryRemoveChild("CustomResourceHandler");
}
