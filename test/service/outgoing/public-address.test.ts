import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../packages/service/src/outgoing/public-address.ts";

describe("an address", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "192.167.1.1",
    "2606:4700:4700::1111",
    "::ffff:8.8.8.8",
    "::ffff:808:808",
    "64:ff9b::808:808",
    "100.63.255.255",
    "100.128.0.1",
  ])("such as %s is everybody's", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...[
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "127.0.0.1",
      "127.1.2.3",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
    ],
    ...["192.168.1.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...[
      "::",
      "::1",
      "fe80::1",
      "fe80::1%eth0",
      "fd00::1",
      "fc12::1",
      "ff02::1",
      "2001:db8::1",
      "2002:7f00:1::1",
      "fec0::1",
    ],
    ...[
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "::ffff:169.254.169.254",
      "64:ff9b::a9fe:a9fe",
      "64:ff9b::10.0.0.1",
      "::127.0.0.1",
      "::ffff:0:10.0.0.1",
      "64:ff9b:1::a00:1",
      "64:ff9b::ffff:a9fe:a9fe",
      "2002:a9fe:a9fe::1",
      "2001:0:a00:1::1",
      "fd00:ec2::254",
      "3fff::1",
      "4000::1",
      "100::1",
      "5f00::1",
    ],
    ...["", "localhost", "1.2.3", "0x7f.1", "2130706433"],
  ])("such as %s is not", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
