/** What is used of it, by name: a bundle leaves the rest out. Loaded where there are credentials, and only then. */
export {
  AlgorithmSuiteIdentifier,
  buildClient,
  CommitmentPolicy,
  KmsKeyringNode,
  MultiKeyringNode,
  RawAesKeyringNode,
  RawAesWrappingSuiteIdentifier,
} from "@aws-crypto/client-node";
