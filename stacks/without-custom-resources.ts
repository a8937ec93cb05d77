import type { Stack } from "sst/constructs";

/** SST gives each stack a Lambda for custom resources (secrets, sites, source maps). We have none of these. */
export function withoutCustomResources(stack: Stack): void {
  stack.node.tryRemoveChild("CustomResourceHandler");
}
