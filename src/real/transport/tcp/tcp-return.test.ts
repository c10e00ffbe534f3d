/** Ranks that come back from the dead, on real sockets: new life, new node, new connections, and nothing of the old ones. */
import assert from "node:assert/strict";
import { readdirSync, readlinkSync } from "node:fs";
import { describe, test } from "node:test";
import { filledBytes } from "../../../../test/filled-bytes.ts";
import { call } from "../handshake/call.ts";
import { CallVerdict, type Hello, ServiceCode } from "../handshake/handshake.ts";
import { type CallsName, callsNames, newTcpWorld, TcpRank, type TcpWorld, testJob } from "../testing/tcp-world.ts";
import { Handover, PeerState } from "./handover.ts";

const content = (bytes: number, salt: number): Uint8Array =>
  filledBytes(bytes, (i) => (i * 31 + (i >> 8) + salt) & 0xff);

/** Rank 1 is dead, and both sides of rank 0's node know it. */
function declare(world: TcpWorld): void {
  world.hosts[0]!.peerFailed(1);
  world.ranks[0]!.transport.peerFailed(1);
}

/** Messages both ways, as many as given; they are all that has arrived since. */
async function exchange(world: TcpWorld, messages: number, salt: number): Promise<void> {
  const [a, b] = world.ranks as [TcpRank, TcpRank];
  a.arrivals.length = 0;
  b.arrivals.length = 0;
  for (let tag = 0; tag < messages; tag++) {
    await world.until(() => a.send(1, tag, content(3000, salt + tag)));
    await world.until(() => b.send(0, tag, content(5000, salt - tag)));
  }
  await world.until(() => [a, b].every(({ arrivals }) => arrivals.length >= messages));
  const expected = (bytes: number, sign: number) =>
    Array.from({ length: messages }, (_, tag) => ({ tag, payload: content(bytes, salt + sign * tag) }));
  const got = ({ arrivals }: TcpRank) => arrivals.map(({ tag, payload }) => ({ tag, payload }));
  assert.deepEqual(got(b), expected(3000, 1));
  assert.deepEqual(got(a), expected(5000, -1));
}

/** What a host says to somebody who claims to be that life of rank 1. */
function verdictFor(world: TcpWorld, incarnation: number): Promise<CallVerdict | undefined> {
  const hello: Hello = { service: ServiceCode.RANK, from: 1, to: 0, incarnation, wanted: 0, generation: 900 };
  const where = { host: "127.0.0.1", port: world.hosts[0]!.port };
  return new Promise((resolve) => {
    const socket = call({ ...where, job: testJob, hello }, (answer) => {
      socket.destroy();
      resolve(answer?.verdict);
    });
  });
}

const within = (calls: CallsName, name: string, body: (world: TcpWorld) => Promise<void>) =>
  test(`L5: ${name}`, async () => {
    const world = await newTcpWorld(2, calls);
    try {
      await body(world);
      assert.deepEqual(world.events, []);
    } finally {
      world.close();
    }
  });

for (const calls of callsNames) {
  describe(`returns by ${calls}`, () => {
    within(
      calls,
      "a peer dies with packets under way in both directions; its next life gets its own alone",
      async (world) => {
        const { until } = world;
        for (let life = 1; life <= 3; life++) {
          const [a, b] = world.ranks as [TcpRank, TcpRank];
          await exchange(world, 5, life);
          const large = a.memory.allocate(2_000_000);
          a.transport.push(1, 1, large, 0, 2_000_000);
          b.transport.push(0, 1, b.memory.allocate(700_000), 0, 700_000);
          // One of them is full of what the other does not read; some of it is in the kernel, some has not left.
          a.isBusy = true;
          for (let tag = 0; tag < 40; tag++) {
            a.send(1, 100 + tag, content(3000, tag));
            b.send(0, 100 + tag, content(3000, tag));
            if (tag % 4 === 0) await until(() => true);
          }
          world.hosts[1]!.close();
          a.isBusy = false;
          if (life === 2) for (let i = 0; i < 10; i++) a.look();
          declare(world);
          assert.ok(a.send(1, 999), "taken and dropped");
          await world.restart(1);
          world.tellReturn(0, 1);
          assert.ok(a.send(1, 999), "still dropped: the rank has not heard");
          a.transport.peerReturned(1, life);
          await exchange(world, 20, 10 * life);
        }
      },
    );

    within(calls, "an old life that was only stopped is fenced for good", async (world) => {
      await exchange(world, 3, 1);
      const old = world.ranks[1]!;
      declare(world);
      assert.equal(await verdictFor(world, 0), CallVerdict.ABSENT, "dead");
      assert.equal(await verdictFor(world, 1), CallVerdict.ABSENT, "and its next life has not been announced");
      await world.restart(1);
      world.tellReturn(0, 1);
      world.ranks[0]!.transport.peerReturned(1, 1);
      // It wakes up, and wants to go on.
      for (let tag = 0; tag < 20; tag++) old.send(0, 500 + tag, content(1000, tag));
      const end = Date.now() + 300;
      for (let round = 0; Date.now() < end; round++) {
        old.look();
        await exchange(world, 3, round);
      }
      assert.ok(!old.transport.hasSockets);
      assert.ok(old.transport.unsent);
      assert.equal(await verdictFor(world, 0), CallVerdict.ABSENT);
      assert.equal(await verdictFor(world, 2), CallVerdict.ABSENT);
      assert.equal(await verdictFor(world, 1), CallVerdict.WELCOME);
    });

    within(
      calls,
      "the new life knocks before anybody has heard of it, and its connection is there before the news",
      async (world) => {
        const { until, hosts } = world;
        await exchange(world, 3, 1);
        // It computes, and still has the old life's connection.
        world.ranks[0]!.isBusy = true;
        hosts[1]!.close();
        await world.restart(1);
        const [a, b] = world.ranks as [TcpRank, TcpRank];
        a.arrivals.length = 0;
        b.send(0, 7);
        const started = Date.now();
        await until(() => Date.now() - started > 50);
        assert.ok(!b.transport.hasSockets, "nobody lets it in");
        hosts[0]!.peerFailed(1);
        world.tellReturn(0, 1);
        // The rank has heard of neither death nor return: the connection waits for it.
        await until(() => new Handover(hosts[0]!.handover).life(0, 1) === 1);
        await until(() => b.transport.hasSockets && !b.transport.unsent);
        assert.equal(a.arrivals.length, 0);
        a.transport.peerFailed(1, 0);
        a.isBusy = false;
        a.send(1, 8);
        await until(() => true);
        assert.equal(a.arrivals.length, 0);
        a.transport.peerReturned(1, 1);
        await until(() => a.arrivals.length === 1);
        assert.deepEqual(
          a.arrivals.map(({ tag }) => tag),
          [7],
        );
        await exchange(world, 5, 2);
        assert.equal(new Handover(hosts[0]!.handover).generation(0, 1), 1, "the same connection all the time");
      },
    );

    within(calls, "a rank hears of a return before its host, and never of the death", async (world) => {
      await exchange(world, 3, 1);
      world.hosts[1]!.close();
      await world.restart(1);
      const a = world.ranks[0]!;
      a.transport.peerReturned(1, 1);
      a.transport.peerFailed(1, 0);
      a.send(1, 5);
      for (let i = 0; i < 10; i++) await world.until(() => true);
      world.hosts[0]!.peerFailed(1);
      world.tellReturn(0, 1);
      await world.until(() => world.ranks[1]!.arrivals.length === 1);
      await exchange(world, 5, 2);
    });

    within(calls, "a new life in a thread of the same node", async (world) => {
      const { ranks, hosts } = world;
      await exchange(world, 3, 1);
      for (let life = 1; life <= 3; life++) {
        ranks[1]!.transport.close();
        hosts[1]!.rankDied(1);
        hosts[1]!.rankReturned(1, life);
        const next = new TcpRank(1, 2, hosts[1]!, calls);
        (ranks as TcpRank[])[1] = next;
        // The new life is where the old one was: who has not heard of it knocks there, and does not take it for the old one.
        const started = Date.now();
        for (let i = 0; i < 20; i++) ranks[0]!.send(1, 77);
        await world.until(() => !ranks[0]!.transport.hasSockets && Date.now() - started > 50);
        assert.ok(!ranks[0]!.transport.hasSockets);
        assert.deepEqual(next.arrivals, []);
        declare(world);
        next.send(0, 78);
        await world.until(() => true);
        hosts[0]!.peerReturned(1, life);
        ranks[0]!.transport.peerReturned(1, life);
        await world.until(() => ranks[0]!.arrivals.some(({ tag }) => tag === 78));
        await exchange(world, 5, life);
        if (life === 3) next.transport.close();
      }
    });

    within(
      calls,
      "a rank that has said farewell to the old life is not taken for one that listens to the new",
      async (world) => {
        const { until, hosts } = world;
        await exchange(world, 3, 1);
        const a = world.ranks[0]!;
        await until(() => a.transport.leave());
        a.isBusy = true;
        world.hosts[1]!.close();
        await world.restart(1);
        hosts[0]!.peerFailed(1);
        world.tellReturn(0, 1);
        const b = world.ranks[1]!;
        b.send(0, 1, content(3000, 1));
        await until(() => b.transport.hasSockets);
        hosts[0]!.rankFinished(0);
        const told = new Handover(hosts[1]!.handover);
        await until(() => told.state(0, 0, 0) === PeerState.FINISHED && b.transport.leave());
      },
    );

    within(calls, "many lives leave no socket and no memory behind", async (world) => {
      const targetOf = (fd: string) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
          return "gone meanwhile";
        }
      };
      const open = () => readdirSync("/proc/self/fd").filter((fd) => targetOf(fd).startsWith("socket:")).length;
      const a = world.ranks[0]!;
      let before = 0;
      let memory = 0;
      for (let life = 0; life < 30; life++) {
        await exchange(world, 2, life);
        if (life === 3) {
          before = open();
          memory = a.memory.allocate(0);
        }
        const old = world.ranks[1]!;
        world.hosts[1]!.close();
        declare(world);
        old.transport.close();
        await world.restart(1);
        world.tellReturn(0, 1);
        a.transport.peerReturned(1, life + 1);
      }
      await exchange(world, 2, 99);
      assert.equal(a.memory.allocate(0), memory);
      assert.ok(open() <= before + 2, `${open()} sockets, ${before} after the first lives`);
    });
  });
}
