export { openS3, type S3Options, type S3Request, type S3Server } from "./server.ts";
