import type { LocalCloud } from "../cloud/local-cloud.ts";
import type { MailServer } from "./mail-server.ts";

/** Takes mail for the triggers of a cloud that this process owns. `port` 0: any that is free. */
export async function openMail(cloud: LocalCloud, { port }: { port: number }): Promise<MailServer> {
  const [{ PutObjectCommand, S3Client }, { openMailServer }] = await Promise.all([
    import("@aws-sdk/client-s3"),
    import("./mail-server.ts"),
  ]);
  const s3 = new S3Client({ forcePathStyle: true });
  const { NOVA_BUCKET: Bucket } = cloud.environment;
  const server = await openMailServer({
    port,
    async store(Key, Body) {
      await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
    },
  });
  return {
    port: server.port,
    async close() {
      await server.close();
      s3.destroy();
    },
  };
}
