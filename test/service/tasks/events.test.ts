import { type BusEvent, Forbidden, type Principal, putEvent, Refused, type ServicePorts } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";

const everybody: Principal = { id: "key_1", role: "runner", client: null, name: "all" };
const paid: BusEvent = { source: "shop.orders", type: "Paid", detail: "{}" };

let put: BusEvent[];
let ports: Pick<ServicePorts, "bus">;

beforeEach(() => {
  put = [];
  const bus: ServicePorts["bus"] = {
    put: async (event) => `e-${put.push(event)}`,
    whole: () => Promise.reject(new RangeError("nobody reads")),
  };
  ports = { bus };
});

describe("an event that a caller puts on the bus", () => {
  it("is passed on unchanged", async () => {
    expect(await putEvent(ports, everybody, paid)).toBe("e-1");
    expect(put).toEqual([paid]);
  });

  it("needs a key for all clients", async () => {
    await expect(putEvent(ports, { ...everybody, client: "acme" }, paid)).rejects.toThrow(Forbidden);
    expect(put).toEqual([]);
  });

  it.each(["nova", "aws.s3", "aws.states"])("cannot come from %s", async (source) => {
    await expect(putEvent(ports, everybody, { ...paid, source })).rejects.toThrow(Refused);
    expect(put).toEqual([]);
  });

  it.each(["nova.shop", "novas", "laws.s3"])("can come from %s", async (source) => {
    await putEvent(ports, everybody, { ...paid, source });
    expect(put).toMatchObject([{ source }]);
  });
});
