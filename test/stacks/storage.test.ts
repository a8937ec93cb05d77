import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { createTable } from "@nova/aws";
import { Match, type Template } from "aws-cdk-lib/assertions";
import { beforeAll, describe, expect, it } from "vitest";
import { brief } from "../support/iam.ts";
import { stacksOf } from "../support/stacks.ts";

let production: Template;
let personal: Template;

beforeAll(async () => {
  production = (await stacksOf("production")).templates.storage;
  personal = (await stacksOf("ada")).templates.storage;
});

/** Returns the request of `createTable` for a local DynamoDB. */
async function localTable(): Promise<CreateTableCommandInput> {
  const inputs: CreateTableCommandInput[] = [];
  const send = async ({ input }: { input: CreateTableCommandInput }) => {
    inputs.push(input);
    return { Table: { TableStatus: "ACTIVE" } };
  };
  await createTable({ send } as unknown as Parameters<typeof createTable>[0], "nova");
  return inputs[0] as CreateTableCommandInput;
}

describe("the DynamoDB table of a deployment", () => {
  it("has the same keys and indexes as on a laptop", async () => {
    const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode } = await localTable();
    const [{ Properties: table } = { Properties: {} }] = Object.values(
      production.findResources("AWS::DynamoDB::Table"),
    );
    const byName = (a: { AttributeName: string | undefined }, b: { AttributeName: string | undefined }) =>
      String(a.AttributeName).localeCompare(String(b.AttributeName));
    expect(table).toMatchObject({ KeySchema, GlobalSecondaryIndexes, BillingMode });
    expect(table.AttributeDefinitions.toSorted(byName)).toEqual(AttributeDefinitions?.toSorted(byName));
  });

  it("can be restored in production, and is kept in production if its stack is deleted", () => {
    production.hasResource("AWS::DynamoDB::Table", {
      DeletionPolicy: "Retain",
      Properties: {
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
  });

  it("is deleted with its stack on every stage except production", () => {
    personal.hasResource("AWS::DynamoDB::Table", {
      DeletionPolicy: "Delete",
      Properties: { DeletionProtectionEnabled: false },
    });
  });

  it("lets no caller delete items of chains, roots and stamps, and lets only the eraser change them", () => {
    production.hasResourceProperties("AWS::DynamoDB::Table", {
      ResourcePolicy: {
        PolicyDocument: {
          Statement: [
            {
              Sid: "ChainStays",
              Effect: "Deny",
              Principal: { AWS: "*" },
              Action: Match.arrayWith(["dynamodb:DeleteItem", "dynamodb:BatchWriteItem"]),
              Resource: "*",
              Condition: { "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": ["C#*", "ROOT", "STAMP"] } },
            },
            {
              Sid: "ChainStaysAsItIs",
              Effect: "Deny",
              Principal: { AWS: "*" },
              Action: "dynamodb:UpdateItem",
              Resource: "*",
              Condition: {
                "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": ["C#*", "ROOT", "STAMP"] },
                ArnNotEquals: { "aws:PrincipalArn": Match.objectLike({ "Fn::Join": Match.anyValue() }) },
              },
            },
          ],
        },
      },
    });
  });

  it("lets DynamoDB delete temporary items after they expire", () => {
    const TimeToLiveSpecification = { AttributeName: "expiresAt", Enabled: true };
    production.hasResourceProperties("AWS::DynamoDB::Table", { TimeToLiveSpecification });
  });
});

describe("the buckets of a deployment", () => {
  /** Returns the properties of the only bucket that does not hold logs. */
  const data = (template: Template) => {
    const versioned = { Properties: { VersioningConfiguration: { Status: "Enabled" } } };
    const [{ Properties } = { Properties: {} }] = Object.values(template.findResources("AWS::S3::Bucket", versioned));
    return Properties;
  };

  it("are encrypted and closed to the public", () => {
    const buckets = Object.values(production.findResources("AWS::S3::Bucket"));
    expect(buckets).toHaveLength(2);
    const open = {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    };
    for (const { Properties, DeletionPolicy } of buckets) {
      expect(DeletionPolicy).toBe("Retain");
      expect(Properties.PublicAccessBlockConfiguration).toEqual(open);
      expect(JSON.stringify(Properties.BucketEncryption)).toContain("AES256");
    }
  });

  it("refuse requests without TLS", () => {
    const policies = Object.values(production.findResources("AWS::S3::BucketPolicy"));
    const plain = { Effect: "Deny", Action: "s3:*", Condition: { Bool: { "aws:SecureTransport": "false" } } };
    expect(policies).toHaveLength(2);
    for (const { Properties } of policies) {
      expect(Properties.PolicyDocument.Statement).toEqual(expect.arrayContaining([expect.objectContaining(plain)]));
    }
  });

  it("keep deleted objects for a time that depends on the prefix, and log requests", () => {
    production.hasResourceProperties("AWS::S3::Bucket", {
      VersioningConfiguration: { Status: "Enabled" },
      LoggingConfiguration: { LogFilePrefix: "access/" },
      LifecycleConfiguration: {
        Rules: Match.arrayWith([
          Match.objectLike({ Prefix: "blobs/", NoncurrentVersionExpiration: { NoncurrentDays: 30 } }),
          Match.objectLike({ Prefix: "workflows/", NoncurrentVersionExpiration: { NoncurrentDays: 90 } }),
        ]),
      },
    });
  });

  it("never let a blob expire that NOVA still uses", () => {
    const rules: { Prefix?: string }[] = data(production).LifecycleConfiguration.Rules;
    const moving = rules.filter((rule) => "ExpirationInDays" in rule || "Transitions" in rule);
    expect(moving.map(({ Prefix }) => Prefix)).toEqual(["uploads/", "proofs/files/", "events/", "mail/"]);
  });

  it("take uploads from the console and from the configured pages only", () => {
    const ruleOf = (template: Template) => data(template).CorsConfiguration.CorsRules[0];
    const { AllowedOrigins, AllowedMethods } = ruleOf(production);
    expect(AllowedOrigins).toEqual(["https://pages.example.com", "https://console.example.com"]);
    expect(AllowedMethods).toEqual(["GET", "PUT"]);
    expect(ruleOf(personal).AllowedOrigins).toEqual(["https://*.cloudfront.net"]);
  });

  it("allow only one rule of SES to write mail, if a mail domain is configured", () => {
    const mails = (template: Template) =>
      Object.values(template.findResources("AWS::S3::BucketPolicy"))
        .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
        .filter(({ Principal }) => Principal.Service === "ses.amazonaws.com");
    const [statement, ...others] = mails(production);
    expect(brief(statement.Resource)).toBe("Bucket.Arn/mail/*");
    expect(brief(statement.Condition.StringEquals["aws:SourceArn"])).toMatch(/receipt-rule-set\/nova:receipt-rule\//);
    expect([...others, ...mails(personal)]).toEqual([]);
    expect(data(production).NotificationConfiguration).toEqual({
      EventBridgeConfiguration: { EventBridgeEnabled: true },
    });
    expect(data(personal)).not.toHaveProperty("NotificationConfiguration");
  });
});

it("the storage stack includes two keys that sign and one key that encrypts, and keeps them in production", () => {
  const key = (properties: object) => ({ DeletionPolicy: "Retain", Properties: properties });
  production.hasResource("AWS::KMS::Key", key({ KeySpec: "HMAC_256", KeyUsage: "GENERATE_VERIFY_MAC" }));
  production.hasResource("AWS::KMS::Key", key({ KeySpec: "ECC_NIST_P256", KeyUsage: "SIGN_VERIFY" }));
  production.hasResource("AWS::KMS::Key", key({ EnableKeyRotation: true }));
  personal.allResources("AWS::KMS::Key", { DeletionPolicy: "Delete", Properties: { PendingWindowInDays: 7 } });
});
