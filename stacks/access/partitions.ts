/** Partition keys of the table, as patterns of IAM; packages/aws/README.md has the picture. */
export const chainPartitions = ["C#*"];
export const executionPartitions = ["E#*"];
export const taskPartitions = ["T#*"];
export const generationPartitions = ["G#*"];
export const workflowPartitions = ["W#*"];
export const credentialPartitions = ["S#*"];
