/** TCP between nodes on real sockets, with both ways to call them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { filledBytes } from "../../../../test/filled-bytes.ts";
import { quietNow } from "../../../../test/patience.ts";
import { PacketKind } from "../../../core/wire/packet.ts";
import { callsNames, newTcpWorld, type TcpRank, type TcpWorld } from "../testing/tcp-world.ts";
import { Handover } from "./handover.ts";

const pattern = (bytes: number, salt: number): Uint8Array =>
  filledBytes(bytes, (i) => (i * 31 + (i >> 8) + salt) & 0xff);

/** A large message on its way: asks the transport as the engine does, until it has taken all. */
class Stream {
  done = 0;
  readonly #from: TcpRank;
  readonly #to: number;
  readonly #receive: number;
  readonly #pointer: number;
  readonly #bytes: number;
  constructor(from: TcpRank, to: number, receive: number, content: Uint8Array, lent = false) {
    this.#from = from;
    this.#to = to;
    this.#receive = receive;
    this.#bytes = content.length;
    this.#pointer = lent ? from.memory.lend(content) : from.memory.allocate(content.length);
    if (!lent) from.memory.bytes.set(content, this.#pointer);
  }
  push(): boolean {
    while (this.done < this.#bytes) {
      const left = this.#bytes - this.done;
      const took = this.#from.transport.push(this.#to, this.#receive, this.#pointer, this.done, left);
      if (took === 0) return false;
      this.done += took;
    }
    return true;
  }
}

const shutdown = (require("koffi") as typeof import("koffi")).load(null).func("int shutdown(int, int)");

const piecesOf = (rank: TcpRank, receive: number): number =>
  rank.arrivals
    .filter((one) => one.kind === PacketKind.FRAGMENT && one.context === receive)
    .reduce((sum, one) => sum + one.bytes, 0);

for (const calls of callsNames) {
  const within = (name: string, nodes: number, body: (world: TcpWorld) => Promise<void>) =>
    test(name, async () => {
      const world = await newTcpWorld(nodes, calls);
      try {
        await body(world);
      } finally {
        world.close();
      }
    });

  describe(`M8: TCP between nodes by ${calls}`, () => {
    within("connects at the first packet, not before", 3, async ({ ranks, until }) => {
      await until(() => true);
      assert.ok(ranks.every((rank) => !rank.transport.hasSockets));
      assert.ok(ranks[0]!.send(2, 5, pattern(100, 1)));
      await until(() => ranks[2]!.arrivals.length === 1);
      const [arrival] = ranks[2]!.arrivals;
      assert.deepEqual(arrival, { kind: 1, source: 0, context: 0, tag: 5, bytes: 100, payload: pattern(100, 1) });
      assert.ok(!ranks[1]!.transport.hasSockets);
    });

    within("many sizes arrive in order, unchanged, both ways", 2, async ({ ranks, until }) => {
      const sizes = [0, 1, 7, 8, 31, 32, 33, 1000, 4096, 65_535, 65_536, 3, 0];
      for (const [from, to] of [
        [0, 1],
        [1, 0],
      ] as const) {
        for (const [tag, bytes] of sizes.entries()) {
          await until(() => ranks[from]!.send(to, tag, pattern(bytes, tag)));
        }
      }
      await until(() => ranks.every((rank) => rank.arrivals.length === sizes.length));
      for (const rank of ranks) {
        assert.deepEqual(
          rank.arrivals.map(({ tag, bytes }) => [tag, bytes]),
          sizes.map((bytes, tag) => [tag, bytes]),
        );
        for (const { tag, bytes, payload } of rank.arrivals) assert.deepEqual(payload, pattern(bytes, tag));
      }
    });

    within("both connect to each other at once, and have one connection", 2, async ({ ranks, until }) => {
      ranks[0]!.send(1, 1);
      ranks[1]!.send(0, 2);
      await until(() => ranks.every((rank) => rank.arrivals.length === 1));
      ranks[0]!.send(1, 3);
      ranks[1]!.send(0, 4);
      await until(() => ranks.every((rank) => rank.arrivals.length === 2));
      assert.deepEqual(
        ranks.map((rank) => rank.arrivals.map(({ tag }) => tag)),
        [
          [2, 4],
          [1, 3],
        ],
      );
    });

    within("everybody talks to everybody", 5, async ({ ranks, until }) => {
      const rounds = 40;
      for (let round = 0; round < rounds; round++) {
        for (const from of ranks) {
          for (const to of ranks)
            if (to !== from) await until(() => from.send(to.rank, round, pattern(round * 30, round)));
        }
      }
      await until(() => ranks.every((rank) => rank.arrivals.length === rounds * 4));
      for (const rank of ranks) {
        for (const peer of ranks) {
          const tags = rank.arrivals.filter(({ source }) => source === peer.rank).map(({ tag }) => tag);
          assert.deepEqual(tags, peer === rank ? [] : Array.from({ length: rounds }, (_, i) => i));
        }
      }
    });

    within("a full channel says so and gets through later", 2, async ({ ranks, until }) => {
      const [a, b] = ranks as [TcpRank, TcpRank];
      b.isBusy = true;
      let sent = 0;
      while (sent < 10_000 && a.send(1, sent, pattern(2000, sent))) sent++;
      assert.ok(sent > 50 && sent < 10_000, `${sent} packets of 2000 bytes fit`);
      await until(() => true);
      b.isBusy = false;
      await until(() => a.send(1, sent, pattern(2000, sent)));
      await until(() => b.arrivals.length === sent + 1);
      assert.deepEqual(b.arrivals.at(-1)!.payload, pattern(2000, sent));
    });

    within("large messages both ways at once, with small ones between, do not lock up", 2, async ({ ranks, until }) => {
      const bytes = 5_000_003;
      const contents = [pattern(bytes, 1), pattern(bytes, 2)];
      const targets = ranks.map((rank) => rank.memory.allocate(bytes));
      const streams = ranks.map((rank, i) => new Stream(rank, 1 - i, 9, contents[i]!, i === 1));
      for (const [i, rank] of ranks.entries()) rank.transport.setLanding({ landingOf: () => targets[i]! });
      let small = 0;
      const isDone = () => {
        const pushed = streams.map((stream) => stream.push());
        if (small < 200 && ranks.every((rank, i) => rank.send(1 - i, small))) small++;
        return pushed.every(Boolean) && ranks.every((rank) => piecesOf(rank, 9) === bytes) && small === 200;
      };
      await until(isDone);
      await until(() => ranks.every((rank) => rank.arrivals.filter(({ kind }) => kind === 1).length === 200));
      for (const [i, rank] of ranks.entries()) {
        const at = targets[i]!;
        for (const one of rank.arrivals) if (one.payload.length > 0) rank.memory.bytes.set(one.payload, at + one.tag);
        assert.ok(Buffer.from(contents[1 - i]!).equals(rank.memory.bytes.subarray(at, at + bytes)));
        const landed = rank.arrivals.filter(
          ({ kind, payload }) => kind === PacketKind.FRAGMENT && payload.length === 0,
        );
        assert.ok(landed.length >= 1, "bytes were written where they belong");
      }
    });

    within(
      "pieces come as packets where nobody knows a place, into ordinary arrays where it is one",
      2,
      async (world) => {
        const [a, b] = world.ranks as [TcpRank, TcpRank];
        const bytes = 700_008;
        const content = pattern(bytes, 3);
        const first = new Stream(a, 1, 1, content);
        await world.until(() => first.push() && piecesOf(b, 1) === bytes);
        const got = new Uint8Array(bytes);
        for (const { tag, payload } of b.arrivals) got.set(payload, tag);
        assert.deepEqual(got, content);

        const view = new Uint8Array(bytes);
        const pointer = b.memory.lend(view);
        b.transport.setLanding({ landingOf: () => pointer });
        const second = new Stream(a, 1, 2, content, true);
        await world.until(() => second.push() && piecesOf(b, 2) === bytes);
        for (const one of b.arrivals) if (one.context === 2 && one.payload.length > 0) view.set(one.payload, one.tag);
        assert.deepEqual(view, content);
      },
    );

    within("a lent buffer is not given back before the other side has it", 2, async ({ ranks, until }) => {
      const [a, b] = ranks as [TcpRank, TcpRank];
      const stream = new Stream(a, 1, 1, pattern(200_000, 3));
      b.isBusy = true;
      assert.equal(stream.push(), false);
      await until(() => a.transport.hasSockets && !a.transport.unsent);
      for (let i = 0; i < 20; i++) await until(() => !stream.push());
      b.isBusy = false;
      await until(() => stream.push());
      assert.equal(piecesOf(b, 1), 200_000);
    });

    within("two sends from one buffer to the same receive are two messages", 2, async ({ ranks, until }) => {
      const [a, b] = ranks as [TcpRank, TcpRank];
      const content = pattern(100_000, 1);
      const pointer = a.memory.allocate(content.length);
      a.memory.bytes.set(content, pointer);
      const push = () => a.transport.push(1, 4, pointer, 0, content.length);
      assert.equal(push(), 0);
      await until(() => piecesOf(b, 4) === content.length);
      // The receipt is here. Whichever of the two asks first is told so; the other's bytes are still to be sent.
      await until(() => push() === content.length);
      assert.equal(push(), 0);
      await until(() => push() === content.length);
      await until(() => piecesOf(b, 4) === 2 * content.length);
    });

    within(
      "a broken connection is only a hint: the streams go on where they were",
      2,
      async ({ ranks, until, hosts }) => {
        const [a, b] = ranks as [TcpRank, TcpRank];
        const bytes = 3_000_000;
        const targets = [0, 1, 2, 3].map(() => b.memory.allocate(bytes));
        b.transport.setLanding({ landingOf: (receive) => targets[receive]! });
        let tag = 0;
        const connection = new Handover(hosts[0]!.handover);
        const talk = () => {
          if (a.send(1, tag)) tag++;
          if (b.send(0, tag)) tag++;
        };
        for (const round of targets.keys()) {
          const stream = new Stream(a, 1, round, pattern(bytes, round));
          for (const end of [0, 1]) {
            stream.push();
            talk();
            await until(() => connection.generation(0, 1) > 0);
            const before = connection.generation(0, 1);
            // As if the network had dropped it, once at either end.
            const handover = new Handover(hosts[end]!.handover);
            const name = { life: 0, generation: handover.generation(0, 1 - end) };
            shutdown(handover.fd(0, 1 - end, name), 2);
            await until(() => {
              talk();
              return connection.generation(0, 1) > before;
            });
          }
          await until(() => stream.push());
        }
        await until(() => ranks.every((rank) => !rank.transport.unsent));
        assert.ok(connection.generation(0, 1) > 8, "it broke, and was made again, often");
        a.send(1, 1_000_000);
        await until(() => b.arrivals.at(-1)?.tag === 1_000_000);
        for (const [round, at] of targets.entries()) {
          assert.equal(piecesOf(b, round), bytes);
          assert.ok(Buffer.from(pattern(bytes, round)).equals(b.memory.bytes.subarray(at, at + bytes)));
        }
        for (const rank of ranks) {
          const tags = rank.arrivals.filter(({ kind }) => kind === 1).map((one) => one.tag);
          assert.deepEqual(
            tags,
            [...tags].sort((x, y) => x - y),
            "in order, each once",
          );
          assert.equal(new Set(tags).size, tags.length);
        }
      },
    );

    within("a channel to a finished process takes packets and drops them", 3, async ({ ranks, hosts, until }) => {
      const [a, b, c] = ranks as [TcpRank, TcpRank, TcpRank];
      a.send(1, 1);
      await until(() => b.arrivals.length === 1);
      b.send(0, 2, pattern(50_000, 1));
      await until(() => b.transport.leave());
      b.isBusy = true;
      hosts[1]!.rankFinished(1);
      await until(() => a.arrivals.length === 1);
      for (let i = 0; i < 1000; i++) await until(() => a.send(1, i, pattern(3000, i)));
      assert.equal(new Stream(a, 1, 1, pattern(1_000_000, 1)).push(), true);
      // Who had no connection hears of it when it wants one.
      for (let i = 0; i < 1000; i++) await until(() => c.send(1, i, pattern(3000, i)));
      assert.ok(!c.transport.unsent);
    });

    within(
      "an answer behind FINISHED is not waited for: its reader may have ended",
      2,
      async ({ ranks, hosts, until }) => {
        const [a, b] = ranks as [TcpRank, TcpRank];
        a.send(1, 1);
        b.send(0, 1);
        await until(() => a.arrivals.length === 1 && b.arrivals.length === 1);
        // Each has something that the other has not confirmed, so that neither may leave at once.
        a.send(1, 2);
        a.transport.leave();
        await until(() => b.transport.leave());
        b.isBusy = true;
        hosts[1]!.rankFinished(1);
        // As the engine of a process that is ending does, to a question that came before.
        a.send(1, 3);
        await until(() => a.transport.leave());
      },
    );

    within("a process that ends while others are just connecting leaves nobody waiting", 4, async (world) => {
      const { ranks, hosts, until } = world;
      const [a, b, c, d] = ranks as [TcpRank, TcpRank, TcpRank, TcpRank];
      // To one it has something, without a connection yet; of the other's connection it never hears.
      b.send(0, 1, pattern(1000, 1));
      assert.ok(!b.transport.leave());
      await until(() => b.transport.leave());
      b.isBusy = true;
      c.send(1, 1);
      await until(() => c.transport.hasSockets);
      hosts[1]!.rankFinished(1);
      d.send(1, 1);
      await until(() => a.arrivals.length === 1);
      for (const rank of [a, c, d]) {
        for (let i = 0; i < 1000; i++) await until(() => rank.send(1, i, pattern(3000, i)));
        await until(() => !rank.transport.unsent);
      }
    });

    within("a channel to a dead process takes packets and drops them", 2, async ({ ranks, hosts, until }) => {
      const [a, b] = ranks as [TcpRank, TcpRank];
      a.send(1, 1);
      await until(() => b.arrivals.length === 1);
      const stream = new Stream(a, 1, 1, pattern(1_000_000, 1));
      stream.push();
      b.isBusy = true;
      hosts[1]!.close();
      for (let i = 0; i < 50; i++) await until(() => true);
      assert.equal(stream.push(), false);
      a.transport.peerFailed(1);
      hosts[0]!.peerFailed(1);
      assert.equal(stream.push(), true);
      for (let i = 0; i < 1000; i++) assert.ok(a.send(1, i, pattern(3000, i)));
      assert.ok(!a.transport.unsent);
    });

    within(
      "frames that cannot be ours, again and again, shut their link and nothing else",
      3,
      async ({ ranks, events, until }) => {
        const [a, b, c] = ranks as [TcpRank, TcpRank, TcpRank];
        a.send(1, 1);
        c.send(1, 1);
        await until(() => b.arrivals.length === 2);
        // A packet of a kind that never comes from another node.
        const packet = a.transport.reserve(1, 0);
        a.transport.words[packet + 1] = PacketKind.HELP;
        a.transport.commit(1);
        await until(() => events.length > 0);
        assert.deepEqual(events, [{ kind: "bad-frame", from: 1, to: 0, reason: "a frame of kind 7" }]);
        c.send(1, 2);
        await until(() => b.arrivals.length === 3);
      },
    );

    within("an idle rank sleeps in poll and wakes for a packet", 2, async ({ ranks, until }) => {
      const [a, b] = ranks as [TcpRank, TcpRank];
      a.send(1, 1);
      await until(() => b.arrivals.length === 1);
      if (!b.transport.canSleep) {
        assert.equal(calls, "wasi");
        assert.deepEqual([b.transport.nextNapMs(), b.transport.nextNapMs(), b.transport.nextNapMs()], [1, 2, 4]);
        a.send(1, 2);
        await until(() => b.arrivals.length === 2);
        assert.equal(b.transport.nextNapMs(), 1);
        return;
      }
      const start = performance.now();
      const before = process.cpuUsage();
      for (let i = 0; i < 10; i++) b.transport.sleep(30);
      const { user, system } = process.cpuUsage(before);
      assert.ok(performance.now() - start > 250, "sleeps");
      assert.ok(user + system < 100_000, "and burns nothing");
      a.send(1, 2);
      // A minute: whoever is not woken sleeps it out.
      const beganMs = quietNow();
      b.transport.sleep(60_000);
      assert.ok(quietNow() - beganMs < 30_000, "woken by the message");
      b.look();
      assert.equal(b.arrivals.length, 2);
    });
  });
}
