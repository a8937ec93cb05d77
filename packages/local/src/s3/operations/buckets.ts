import type { Operation } from "../call.ts";
import { resultDocument } from "../xml.ts";

export const listBuckets: Operation = async ({ store, response }) => {
  const buckets = (await store.buckets()).map(({ name, createdMs }) => ({
    Name: name,
    CreationDate: new Date(createdMs).toISOString(),
  }));
  const owner = { ID: "local", DisplayName: "local" };
  response.setHeader("content-type", "application/xml");
  response.end(resultDocument("ListAllMyBucketsResult", { Owner: owner, Buckets: { Bucket: buckets } }));
};

export const createBucket: Operation = async ({ store, response, bucket }) => {
  await store.createBucket(bucket);
  response.writeHead(200, { location: `/${bucket}` }).end();
};

export const headBucket: Operation = async ({ store, response, bucket }) => {
  await store.bucketDir(bucket);
  response.writeHead(200).end();
};

export const deleteBucket: Operation = async ({ store, response, bucket }) => {
  await store.deleteBucket(bucket);
  response.writeHead(204).end();
};
