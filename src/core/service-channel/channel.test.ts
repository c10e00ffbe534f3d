/** The cases that every channel passes, in one memory: connections carry a few bytes at a time and break where the seed says. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "../base/seeded-random.ts";
import { closed, type Incoming, type Stretch, type Wire, wouldBlock } from "./channel.ts";
import { Connection, connectionWords, segmentWordsMax } from "./connection.ts";
import { MemoryClient } from "./memory-client.ts";
import { MemoryIncoming, MemoryOutgoing, silent } from "./memory-streams.ts";
import { MessageReader, MessageWriter, WholeMessages } from "./messages.ts";
import { ServiceClients } from "./service-clients.ts";
import { ServiceEnds } from "./service-ends.ts";
import { type ChannelCase, channelCases, conformanceWordsMax, type Role } from "./testing/channel-conformance.ts";
import { WordLog } from "./word-log.ts";

const pipeBytesMax = 3000;

/** Bytes between two memories. */
class Pipe {
  readonly #random: SeededRandom;
  readonly #queues: [number[], number[]] = [[], []];
  isCut = false;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  wire(side: 0 | 1): Wire {
    return {
      send: (memory, at, bytes) => {
        if (this.isCut) return closed;
        const queue = this.#queues[side];
        const count = Math.min(bytes, pipeBytesMax - queue.length, this.#some());
        queue.push(...memory.subarray(at, at + count));
        return count === 0 ? wouldBlock : count;
      },
      receive: (memory, at, bytes) => {
        if (this.isCut) return closed;
        const came = this.#queues[1 - side]!.splice(0, Math.min(bytes, this.#some()));
        memory.set(came, at);
        return came.length === 0 ? wouldBlock : came.length;
      },
    };
  }

  #some(): number {
    return this.#random.bits() % 4 === 0 ? this.#random.bits() % 7 : pipeBytesMax;
  }
}

/** What a service process has. */
interface ServiceProcess {
  readonly clients: ServiceClients<{ pipe: Pipe; connection: Connection | null }>;
  readonly ends: ServiceEnds;
}

class PairWorld {
  readonly #random: SeededRandom;
  readonly #retention: ChannelCase["retention"];
  readonly lives: MemoryClient[] = [];
  #service: ServiceProcess;
  #services = 0;
  #pipes = new Map<MemoryClient, Pipe>();
  connections = 0;

  constructor(seed: number, retention: ChannelCase["retention"]) {
    this.#random = new SeededRandom(seed);
    this.#retention = retention;
    this.#service = this.#newService();
    this.nextLife();
  }

  #newService(): ServiceProcess {
    const ends = new ServiceEnds(
      { outgoingWordsMax: conformanceWordsMax, incomingWordsMax: conformanceWordsMax },
      (client) => {
        const host = clients.hostOf(client);
        if (host?.connection?.move(host.pipe.wire(1)) === false) host.pipe.isCut = true;
      },
    );
    const clients: ServiceProcess["clients"] = new ServiceClients(ends, ++this.#services, ({ pipe }) => {
      pipe.isCut = true;
    });
    return { clients, ends };
  }

  nextLife(): void {
    const life = new MemoryClient(
      {
        client: 7,
        incarnation: this.lives.length,
        retention: this.#retention,
        outgoingWordsMax: conformanceWordsMax,
        incomingWordsMax: conformanceWordsMax,
      },
      { broken: () => this.#pipes.delete(life), settled() {} },
    );
    this.lives.push(life);
  }

  get end() {
    return this.#service.ends.of(7);
  }

  cut(): void {
    for (const pipe of this.#pipes.values()) pipe.isCut = true;
  }

  lose(): void {
    this.cut();
    this.#service = this.#newService();
  }

  trim(position: number): void {
    for (const life of this.lives) life.trim(position);
  }

  /** Whoever has no connection calls. */
  turn(): void {
    for (const life of this.lives) {
      if (this.#pipes.has(life) || life.isFenced || this.#random.bits() % 3 === 0) continue;
      const admission = this.#service.clients.admit(life.hello);
      if (admission === null) {
        life.refused();
        continue;
      }
      // An answer may be lost.
      if (this.#random.bits() % 5 === 0) continue;
      this.connections++;
      const pipe = new Pipe(this.#random);
      this.#pipes.set(life, pipe);
      const host: { pipe: Pipe; connection: Connection | null } = { pipe, connection: null };
      host.connection = this.#service.clients.connect(admission, host);
      life.connected(pipe.wire(0), admission.wanted);
    }
  }
}

function run(conformance: ChannelCase, seed: number): PairWorld {
  const world = new PairWorld(seed, conformance.retention);
  const check = (claim: boolean, what: string): void => ok(claim, `seed ${seed}: ${what}`);
  const client = (incarnation: number): Role =>
    conformance.client({ end: world.lives[incarnation]!, incarnation, check });
  const roles = [client(0)];
  roles.push(
    conformance.service({
      check,
      end: () => world.end,
      cut: () => world.cut(),
      lose: () => world.lose(),
      trim: (position) => world.trim(position),
      nextLife: () => {
        world.nextLife();
        roles.push(client(world.lives.length - 1));
      },
    }),
  );
  const done = new Set<Role>();
  for (let turns = 0; ; turns++) {
    ok(turns < 200_000, `seed ${seed}: some role waits in vain`);
    world.turn();
    let isOver = true;
    for (const role of [...roles]) {
      if (!done.has(role) && role.next().done === true) done.add(role);
      if (!done.has(role)) isOver = false;
    }
    if (isOver) return world;
    // Acknowledgements travel although nobody has anything left to say.
    world.end?.move();
    for (const life of world.lives) life.move();
  }
}

describe("L1, V8 a channel to a service, in one memory", () => {
  for (const conformance of channelCases) {
    it(conformance.name, () => {
      let connections = 0;
      for (let seed = 1; seed <= 5; seed++) connections += run(conformance, seed).connections;
      ok(connections >= 5);
    });
  }
});

/** A connection and the bytes that somebody else says to it. */
function heardBy(listener: boolean, said: Int32Array): { isOpen: boolean; outgoing: MemoryOutgoing } {
  const outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: 100 });
  outgoing.append(Int32Array.of(1, 2, 3), 0, 3);
  const connection = new Connection({
    words: new Int32Array(connectionWords),
    at: 0,
    outgoing,
    incoming: new MemoryIncoming({ wordsMax: 100 }),
    listener: listener ? { origin: 9, opened: ({ origin }) => origin !== 66 } : null,
  });
  connection.begin();
  const bytes = [...new Uint8Array(said.buffer)];
  const isOpen = connection.move({
    send: (_memory, _at, count) => count,
    receive(memory, at, count) {
      const came = bytes.splice(0, count);
      memory.set(came, at);
      return came.length === 0 ? wouldBlock : came.length;
    },
  });
  return { isOpen, outgoing };
}

describe("V8 what comes over a connection is not believed", () => {
  it("a segment that acknowledges what was said is taken", () => {
    const { isOpen, outgoing } = heardBy(false, Int32Array.of(9, 3, 0));
    equal(isOpen, true);
    equal(outgoing.stable, 3);
  });

  it("an acknowledgement of what nobody sent, or a segment of no possible length, ends it", () => {
    for (const said of [
      [9, 4, 0],
      [9, 0, -1],
      [9, 0, segmentWordsMax + 1],
      [0, 0, 0],
    ]) {
      const { isOpen, outgoing } = heardBy(false, Int32Array.from(said));
      equal(isOpen, false, `${said}`);
      equal(outgoing.stable, 0);
    }
  });

  it("an opening that the service does not understand ends it", () => {
    equal(heardBy(true, Int32Array.of(0, 0, 66)).isOpen, false);
    equal(heardBy(true, Int32Array.of(0, 0, 65, 0, 0)).isOpen, true);
  });
});

describe("L1 a client that appends faster than segments leave", () => {
  it("finds its words in few segments: those born while one leaves go with the next turn", () => {
    const outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: 1000 });
    const connection = new Connection({
      words: new Int32Array(connectionWords),
      at: 0,
      outgoing,
      incoming: new MemoryIncoming({ wordsMax: 100 }),
      listener: null,
    });
    connection.begin(true);
    let segments = 0;
    const wire: Wire = {
      send(_memory, _at, count) {
        segments++;
        outgoing.append(Int32Array.of(segments), 0, 1);
        return count;
      },
      receive: () => wouldBlock,
    };
    outgoing.append(Int32Array.of(0), 0, 1);
    equal(connection.move(wire), true);
    ok(segments <= 2, `${segments} segments in one turn`);
    equal(connection.move(wire), true);
    ok(outgoing.sent >= 3, "the words of the turn before have left");
  });
});

/** A listener's connection that need not acknowledge each word at once, and what it says: acknowledged positions and counts of words. */
function unhurried(unsaidWordsMax: number) {
  const incoming = new MemoryIncoming({ wordsMax: 1000, unsaidWordsMax });
  const outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: 100 });
  const listener = { origin: 9, opened: () => true };
  const connection = new Connection({ words: new Int32Array(connectionWords), at: 0, outgoing, incoming, listener });
  connection.begin();
  /** What is said to it, and what it says then, but for its opening. */
  const hear = (...said: readonly number[]): number[] => {
    const bytes = [...new Uint8Array(Int32Array.from(said).buffer)];
    const answer: number[] = [];
    const isOpen = connection.move({
      send(memory, at, count) {
        answer.push(...new Int32Array(memory.slice(at, at + count).buffer));
        return count;
      },
      receive(memory, at, count) {
        const came = bytes.splice(0, count);
        memory.set(came, at);
        return came.length === 0 ? wouldBlock : came.length;
      },
    });
    equal(isOpen, true);
    return answer;
  };
  equal(hear(0, 0, 65)[0], 9);
  return { hear, outgoing };
}

describe("V7 acknowledgements that need not be said at once", () => {
  const asking = 1 << 30;

  it("go with the next words of their end", () => {
    const { hear, outgoing } = unhurried(10);
    deepEqual(hear(0, 3, 1, 2, 3), []);
    outgoing.append(Int32Array.of(7), 0, 1);
    deepEqual(hear(), [3, 1, 7]);
    deepEqual(hear(), [], "and are not said twice");
  });

  it("are said when there are many", () => {
    const { hear } = unhurried(4);
    deepEqual(hear(0, 3, 1, 2, 3), []);
    deepEqual(hear(0, 2, 4, 5), [5, 0]);
  });

  it("are said to who asks, when all has come that it has asked for", () => {
    const { hear } = unhurried(100);
    deepEqual(hear(0, 2, 1, 2), []);
    deepEqual(hear(0, asking), [2, 0], "asked by a segment without words");
    deepEqual(hear(0, asking | 3, 3), [3, 0]);
    deepEqual(hear(4, 5), [5, 0], "the rest of what was asked for");
    deepEqual(hear(0, 1, 6), [], "and no more");
  });

  it("are asked for once, until there is something new", () => {
    const outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: 100 });
    const incoming = new MemoryIncoming({ wordsMax: 100 });
    const words = new Int32Array(connectionWords);
    const connection = new Connection({ words, at: 0, outgoing, incoming, listener: null });
    connection.begin(true);
    const heads: number[] = [];
    const wire: Wire = {
      send(memory, at, count) {
        heads.push(new Int32Array(memory.slice(at, at + count).buffer)[1]!);
        return count;
      },
      receive: () => wouldBlock,
    };
    equal(connection.ask(), false, "there is nothing that could be acknowledged");
    outgoing.append(Int32Array.of(1, 2), 0, 2);
    connection.move(wire);
    equal(connection.ask(), true);
    connection.move(wire);
    equal(connection.ask(), false);
    connection.move(wire);
    outgoing.append(Int32Array.of(3), 0, 1);
    connection.ask();
    connection.move(wire);
    deepEqual(heads, [2, asking, asking | 1]);
  });
});

/** A ring of words that lets a connection write to it, as that of a client in shared memory does. */
class PlacedIncoming implements Incoming {
  readonly #ring = new Int32Array(1 << 12);
  readonly #bytes = new Uint8Array(this.#ring.buffer);
  readonly origin = 9;
  arrived = 0;
  placedWords = 0;
  #consumed = 0;

  get settled(): number {
    return this.arrived;
  }

  receive(words: Int32Array, at: number, count: number): number {
    const taken = Math.min(count, this.#ring.length - (this.arrived - this.#consumed));
    for (let i = 0; i < taken; i++) this.#ring[(this.arrived + i) % this.#ring.length] = words[at + i]!;
    this.arrived += taken;
    return taken;
  }

  place(max: number, into: Stretch): void {
    const to = this.arrived % this.#ring.length;
    const room = this.#ring.length - (this.arrived - this.#consumed);
    into.memory = this.#bytes;
    into.at = 4 * to;
    into.bytes = 4 * Math.min(max, room, this.#ring.length - to);
  }

  placed(count: number): number {
    this.arrived += count;
    this.placedWords += count;
    return count;
  }

  beginAnew(): boolean {
    return true;
  }

  take(max: number): number[] {
    const count = Math.min(max, this.arrived - this.#consumed);
    const words = Array.from({ length: count }, (_, i) => this.#ring[(this.#consumed + i) % this.#ring.length]!);
    this.#consumed += count;
    return words;
  }
}

describe("L1 many words", () => {
  it("leave from where the stream has them and go to where the other stream wants them, whatever pieces the wire makes of them", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = new SeededRandom(seed);
      const pipe = new Pipe(random);
      const outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: 6000 });
      const incoming = new PlacedIncoming();
      const newEnd = (parts: Pick<ConstructorParameters<typeof Connection>[0], "outgoing" | "incoming" | "listener">) =>
        new Connection({ words: new Int32Array(connectionWords), at: 0, ...parts });
      const listener = { origin: 9, opened: () => true };
      const sender = newEnd({ outgoing, incoming: new MemoryIncoming({ wordsMax: 100 }), listener });
      const receiver = newEnd({ outgoing: silent, incoming, listener: null });
      sender.begin();
      receiver.begin();
      let born = 0;
      const heard: number[] = [];
      while (heard.length < 40_000) {
        const words = Int32Array.from({ length: random.bits() % 3000 }, (_, i) => born + i);
        born +=
          random.bits() % 2 === 0 ? outgoing.append(words, 0, words.length) : outgoing.lend(words, 0, words.length);
        ok(sender.move(pipe.wire(0)));
        ok(receiver.move(pipe.wire(1)));
        heard.push(...incoming.take(random.bits() % 4000));
      }
      equal(
        heard.findIndex((word, i) => word !== i),
        -1,
        `seed ${seed}`,
      );
      ok(incoming.placedWords > 10_000, `${incoming.placedWords} words were not copied`);
    }
  });

  it("are not acknowledged before they have left", () => {
    const outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: 6000 });
    outgoing.append(new Int32Array(5000), 0, 5000);
    const incoming = new MemoryIncoming({ wordsMax: 100 });
    const parts = { words: new Int32Array(connectionWords), at: 0, outgoing, incoming, listener: null };
    const connection = new Connection(parts);
    connection.begin(true);
    let room = 8 + 4 * 100;
    const bytes = [...new Uint8Array(Int32Array.of(9, 101, 0).buffer)];
    const wire: Wire = {
      send(_memory, _at, count) {
        const went = Math.min(count, room);
        room -= went;
        return went === 0 ? wouldBlock : went;
      },
      receive(memory, at, count) {
        const came = bytes.splice(0, count);
        memory.set(came, at);
        return came.length === 0 ? wouldBlock : came.length;
      },
    };
    equal(connection.move(wire), false, "100 words have left, and 101 are acknowledged");
    equal(outgoing.stable, 0);
  });
});

describe("L1 payloads as words", () => {
  const endOf = (words: number[], origins: number[] = []) => ({
    origin: 1,
    append: (said: Int32Array, from: number, to: number) => words.push(...said.subarray(from, to)) && to - from,
    take(into: Int32Array) {
      const came = words.splice(0, into.length);
      into.set(came);
      this.origin = origins.shift() ?? this.origin;
      return came.length;
    },
  });

  it("arrive as they were, and nothing is left over", () => {
    const words: number[] = [];
    const end = endOf(words);
    const writer = new MessageWriter(end);
    const sizes = [0, 1, 2, 3, 4, 5, 16_379, 16_380, 16_381, 16_384, 16_385, 100_000];
    for (const size of sizes) ok(writer.offer(new Uint8Array(size).fill(size)));
    const heard: Uint8Array[] = [];
    const reader = new MessageReader(end, new WholeMessages(100_000, (message) => heard.push(message)));
    equal(reader.read(), true);
    deepEqual(
      heard.map(({ length }) => length),
      sizes,
    );
    ok(heard.every((message) => message.every((byte) => byte === (message.length & 0xff))));
    equal(reader.read(), false);
  });

  it("larger ones than allowed, and negative lengths, are not heard", () => {
    for (const length of [101, -1]) {
      const reader = new MessageReader(endOf([length, 0, 0]), new WholeMessages(100, () => ok(false)));
      reader.read();
      equal(reader.isBad, true);
    }
  });
});

describe("L6 words that are kept", () => {
  it("are what was appended, whatever is trimmed and dropped", () => {
    const random = new SeededRandom(3);
    const begin = 0x7fffff00;
    const log = new WordLog(begin);
    let model: number[] = [];
    let first = begin;
    for (let step = 0; step < 2000; step++) {
      const count = random.bits() % 40;
      const words = Int32Array.from({ length: count }, () => random.bits());
      if (random.bits() % 3 !== 0) {
        if (random.bits() % 4 === 0) log.lend(words);
        else log.append(words);
        model.push(...words);
      } else if (random.bits() % 2 === 0) {
        const dropped = Math.min(count, model.length);
        log.dropLast(dropped);
        model = model.slice(0, model.length - dropped);
      } else {
        const trimmed = Math.min(5 * count, model.length);
        log.trim((first + trimmed) | 0);
        first = (first + trimmed) | 0;
        model = model.slice(trimmed);
      }
      equal(log.begin, first);
      equal(log.end, (first + model.length) | 0);
      const from = model.length === 0 ? 0 : random.bits() % model.length;
      deepEqual([...log.read((first + from) | 0)], model.slice(from));
    }
  });
});
