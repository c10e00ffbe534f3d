import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceClients, type ServiceUser } from "./service-clients.ts";
import { ServiceEnds } from "./service-ends.ts";

const bounds = { outgoingWordsMax: 100, incomingWordsMax: 100 };

function open(user: ServiceUser = new ServiceEnds(bounds, () => {})) {
  const dropped: string[] = [];
  return { dropped, clients: new ServiceClients<string>(user, 1, (host) => dropped.push(host)) };
}
const hello = (incarnation: number, client = 3) => ({ client, incarnation, begin: 0 });

describe("V8 who is let in by a service", () => {
  it("a life that calls again takes the place of its own connection, at once", () => {
    const { clients, dropped } = open();
    const first = clients.admit(hello(0));
    ok(first !== null && clients.connect(first, "first") !== null);
    equal(clients.hostOf(3), "first");
    const second = clients.admit(hello(0));
    deepEqual(dropped, ["first"]);
    equal(clients.hostOf(3), null);
    ok(second !== null && clients.connect(second, "second") !== null);
    equal(clients.hostOf(3), "second");
  });

  it("whoever was let in and then overtaken by another call gets no connection", () => {
    const { clients } = open();
    const slow = clients.admit(hello(0));
    const fast = clients.admit(hello(0));
    ok(slow !== null && fast !== null);
    ok(clients.connect(fast, "fast") !== null);
    equal(clients.connect(slow, "slow"), null);
    equal(clients.hostOf(3), "fast");
  });

  it("a newer life takes the connection of an older one, which is refused from then on", () => {
    const { clients, dropped } = open();
    const old = clients.admit(hello(1));
    ok(old !== null && clients.connect(old, "old") !== null);
    ok(clients.admit(hello(2)) !== null);
    deepEqual(dropped, ["old"]);
    equal(clients.admit(hello(1)), null);
    ok(clients.admit(hello(1, 4)) !== null, "other clients have lives of their own");
  });

  it("a life that the service refuses takes nobody's place", () => {
    const ends = new ServiceEnds(bounds, () => {});
    const { clients, dropped } = open({ open: (said) => (said.incarnation === 5 ? null : ends.open(said)) });
    const first = clients.admit(hello(0));
    ok(first !== null && clients.connect(first, "first") !== null);
    equal(clients.admit(hello(5)), null);
    deepEqual(dropped, []);
    ok(clients.admit(hello(0)) !== null);
  });

  it("a connection that has ended is forgotten, unless another has its place", () => {
    const { clients, dropped } = open();
    const first = clients.admit(hello(0));
    ok(first !== null && clients.connect(first, "first") !== null);
    clients.disconnected(3, "another");
    equal(clients.hostOf(3), "first");
    clients.disconnected(3, "first");
    equal(clients.hostOf(3), null);
    ok(clients.admit(hello(0)) !== null);
    deepEqual(dropped, []);
  });
});
