/**
 * Real hosts and real sockets whose connections are cut all the time: while they are being made, in the middle of messages,
 * and while ranks are ending. Every message arrives once and in order, and everybody ends.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { filledBytes } from "../../../../test/filled-bytes.ts";
import { quietNow } from "../../../../test/patience.ts";
import { CuttingProxy } from "../testing/cutting-proxy.ts";
import { type CallsName, callsNames, newTcpWorld, type TcpRank, type TcpWorld } from "../testing/tcp-world.ts";

const nodes = 3;
const messages = 30;
const worlds = 10;

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state >> 8;
  };
}

const contentOf = (tag: number, bytes: number): Uint8Array => filledBytes(bytes, (i) => (i * 7 + tag) & 0xff);

/** A rank that sends to everybody, waits for as much from everybody, and leaves. */
class Program {
  readonly #rank: TcpRank;
  readonly #sizes: number[];
  readonly #sent = new Array<number>(nodes).fill(0);
  state: "running" | "leaving" | "finished" = "running";

  constructor(rank: TcpRank, random: () => number) {
    this.#rank = rank;
    this.#sizes = Array.from({ length: messages }, () => [0, 8, 500, 5000, 30_000][random() % 5]!);
  }

  step(world: TcpWorld, to: number): void {
    const rank = this.#rank;
    if (this.state === "finished") return;
    const tag = this.#sent[to]!;
    if (to !== rank.rank && tag < messages && rank.send(to, tag, contentOf(tag, this.#sizes[tag]!)))
      this.#sent[to] = tag + 1;
    rank.look();
    const isDone = this.#sent.every((count, peer) => peer === rank.rank || count === messages);
    if (isDone && rank.arrivals.length === messages * (nodes - 1)) this.state = "leaving";
    if (this.state !== "leaving" || !rank.transport.leave()) return;
    this.state = "finished";
    world.hosts[rank.rank]!.rankFinished(rank.rank);
  }

  check(): void {
    for (let peer = 0; peer < nodes; peer++) {
      if (peer === this.#rank.rank) continue;
      const arrivals = this.#rank.arrivals.filter(({ source }) => source === peer);
      assert.deepEqual(
        arrivals.map(({ tag }) => tag),
        Array.from({ length: messages }, (_, tag) => tag),
      );
      for (const { tag, bytes, payload } of arrivals) assert.deepEqual(payload, contentOf(tag, bytes));
    }
  }
}

async function play(seed: number, calls: CallsName): Promise<{ cuts: number; late: number }> {
  const random = randomOf(seed);
  const world = await newTcpWorld(nodes, calls);
  const proxies = world.hosts.map((host) => new CuttingProxy(host.port));
  const book: { host: string; port: number }[] = [];
  for (const proxy of proxies) book.push({ host: "127.0.0.1", port: await proxy.listen() });
  for (const host of world.hosts) host.setAddressBook(book);
  const programs = world.ranks.map((rank) => new Program(rank, random));
  let early = random() % 6;
  const lateMax = 1 + (random() % 6);
  let late = 0;
  const endMs = quietNow() + 10_000;
  try {
    while (programs.some(({ state }) => state !== "finished")) {
      const states = programs.map(({ state }) => state);
      assert.ok(quietNow() < endMs, `seed ${seed} by ${calls}: ranks are ${states} after 10 s`);
      // Some are slower than others.
      for (const [rank, program] of programs.entries())
        if (random() % (rank + 1) === 0) program.step(world, random() % nodes);
      const isEnding = states.some((state) => state !== "running");
      if (isEnding ? late < lateMax && random() % 4 === 0 : early > 0 && random() % 15 === 0) {
        if (isEnding) late++;
        else early--;
        const cuttable = proxies.filter((proxy) => proxy.connections > 0);
        cuttable[random() % cuttable.length]?.cut(random(), (random() & 1) === 0);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const program of programs) program.check();
    assert.deepEqual(world.events, []);
  } finally {
    world.close();
    for (const proxy of proxies) proxy.close();
  }
  return { cuts: proxies.reduce((sum, proxy) => sum + proxy.cuts, 0), late };
}

for (const calls of callsNames) {
  test(`X7: connections are cut all the time, by ${calls}: everything arrives once, and everybody ends`, async () => {
    let cuts = 0;
    let late = 0;
    for (let seed = 1; seed <= worlds; seed++) {
      const played = await play(seed, calls);
      cuts += played.cuts;
      late += played.late;
    }
    assert.ok(cuts > 2 * worlds, `${cuts} connections were cut`);
    assert.ok(late > worlds, `${late} at the end`);
  });
}
