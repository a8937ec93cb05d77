/** Partition keys of the table, as patterns of IAM; packages/aws/README.md has the picture. */
export const chainPartitions = ["C#*"];
export const executionPartitions = ["E#*"];
export const taskPartitions = ["T#*"];
export const generationPartitions = ["G#*"];
export const workflowPartitions = ["W#*"];
export const triggerPartitions = ["TRIGGER#*"];
export const deliveryPartitions = ["DELIVERY#*"];
export const credentialPartitions = ["S#*"];
export const clientPartitions = ["CLIENT#*"];
/** Figures of runs. */
export const figurePartitions = ["F#*"];
export const uploadPartitions = ["U#*"];
export const queuePartitions = ["Q#*"];
/** What models have cost clients. */
export const spendingPartitions = ["M#*"];
