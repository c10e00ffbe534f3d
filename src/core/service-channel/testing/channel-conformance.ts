/**
 * What every channel to a service must do, as cases that any implementation's test runs: in one memory, in the simulated world, over
 * sockets with the client in a thread of its own.
 *
 * A case has two roles, generators that do what they can and yield when they have to wait. The test runs both to their ends in
 * whatever world it tests, passing the turn (or waiting) at every yield; `check` throws what that test framework throws. The
 * service's role may cut connections, have another process take the service's place, or have another life of the client begin,
 * which runs the client's role again beside the old one.
 */
import { filledBytes } from "../../../../test/filled-bytes.ts";
import type { ChannelEnd, ClientEnd, Retention } from "../channel.ts";
import { wordsBetween } from "../channel.ts";
import { MessageReader, MessageWriter, WholeMessages } from "../messages.ts";

export type Role = Generator<void, void, void>;

interface Side {
  /** Throws when the claim is false. */
  check(claim: boolean, what: string): void;
}

interface ClientSide extends Side {
  readonly end: ClientEnd;
  /** Which life it is, from 0. */
  readonly incarnation: number;
}

interface ServiceSide extends Side {
  /** The end for the client's newest life that was heard; undefined: there is none. Another one when the service was lost. */
  end(): ChannelEnd | undefined;
  /** Cuts the connection, if there is one. */
  cut(): void;
  /** The service is lost with all that it has; another is started elsewhere. */
  lose(): void;
  /** No word of the client's before that position will be wanted. */
  trim(position: number): void;
  /** Another life of the client begins, while the old one goes on. */
  nextLife(): void;
}

export interface ChannelCase {
  readonly name: string;
  readonly retention: Retention;
  client(side: ClientSide): Role;
  service(side: ServiceSide): Role;
}

/** Bounds that every implementation gives its streams in these cases, in words. */
export const conformanceWordsMax = 2048;

/** Byte `at` of the message with that number: no two messages and no two neighbours look alike. */
const byteAt = (number: number, at: number): number => (number * 31 + at * 7 + (at >> 8)) & 0xff;
const payloadOf = (number: number, bytes: number): Uint8Array => filledBytes(bytes, (at) => byteAt(number, at));

/** Sends so many messages, of sizes by number, and hears so many; whoever has heard all and said all goes on until all is stable. */
class Talk {
  readonly #side: Side;
  readonly #sizes: readonly number[];
  readonly #expected: readonly number[];
  readonly #writer: MessageWriter;
  readonly #reader: MessageReader;
  #sent = 0;
  #next: Uint8Array;
  #heard = 0;

  constructor(side: Side, end: ChannelEnd, sizes: readonly number[], expected: readonly number[]) {
    this.#side = side;
    this.#sizes = sizes;
    this.#expected = expected;
    this.#next = payloadOf(0, sizes[0] ?? 0);
    this.#writer = new MessageWriter(end);
    this.#reader = new MessageReader(end, new WholeMessages(1 << 24, (message) => this.#hear(message)));
  }

  #hear(message: Uint8Array): void {
    const number = this.#heard++;
    const expected = this.#expected[number];
    this.#side.check(
      message.length === expected,
      `message ${number} has ${message.length} bytes, expected ${expected}`,
    );
    const wrong = message.findIndex((value, at) => value !== byteAt(number, at));
    this.#side.check(wrong < 0, `byte ${wrong} of message ${number} arrives unchanged`);
  }

  /** True: there is nothing left to do but to be acknowledged. */
  go(): boolean {
    const sizes = this.#sizes;
    while (this.#sent < sizes.length && this.#writer.offer(this.#next)) {
      this.#sent++;
      this.#next = payloadOf(this.#sent, sizes[this.#sent] ?? 0);
    }
    const isSaid = this.#sent === sizes.length && this.#writer.go();
    this.#reader.read();
    return isSaid && this.#heard >= this.#expected.length;
  }
}

const sizesOf = (count: number, size: (number: number) => number): number[] =>
  Array.from({ length: count }, (_, i) => size(i));

function* talk(side: Side, end: ChannelEnd, sizes: readonly number[], expected: readonly number[]): Role {
  const dialog = new Talk(side, end, sizes, expected);
  let { stable } = end;
  for (;;) {
    const isDone = dialog.go();
    end.move();
    side.check(wordsBetween(stable, end.stable) >= 0, "what is stable stays so");
    side.check(wordsBetween(end.stable, end.born) >= 0, "nothing is stable that was not said");
    stable = end.stable;
    if (isDone && stable === end.born) return;
    yield;
  }
}

/** Both roles of a talk without trouble. */
const talks = (toService: readonly number[], toClient: readonly number[]): Pick<ChannelCase, "client" | "service"> => ({
  client: (side) => talk(side, side.end, toService, toClient),
  *service(side) {
    yield* talk(side, yield* connected(side), toClient, toService);
  },
});

function* connected(side: ServiceSide): Generator<void, ChannelEnd, void> {
  for (let end = side.end(); ; end = side.end()) {
    if (end !== undefined) return end;
    yield;
  }
}

const small = sizesOf(300, (i) => (i * 13) % 70);
const everySize = [...Array(140).keys(), 255, 256, 257, 4095, 4096, 4097];

const fifo: ChannelCase = {
  name: "messages arrive in order both ways, each once, of every size",
  retention: "until-acknowledged",
  ...talks([...small, ...everySize], [...everySize, ...small]),
};

const large: ChannelCase = {
  name: "messages that are larger than all memory between the ends arrive both ways",
  retention: "until-acknowledged",
  ...talks([200_001, 0, 70_000, 3], [5, 150_002, 99_999]),
};

const kept: ChannelCase = {
  name: "a stream that is kept until it is trimmed goes on as long as it is acknowledged",
  retention: "until-trimmed",
  ...talks(
    sizesOf(200, (i) => i * 3),
    small,
  ),
};

/** Appends until nothing more fits, for some turns: how many words were taken. */
function* stuff(end: ChannelEnd): Generator<void, number, void> {
  const words = new Int32Array(100);
  let taken = 0;
  for (let turns = 0; turns < 200; turns++) {
    for (let count = end.append(words, 0, 100); count > 0; count = end.append(words, 0, 100)) taken += count;
    end.move();
    yield;
  }
  return taken;
}

/** What is in two bounded streams, two stages, and whatever the system keeps for a socket. */
const underWayWordsMax = 1 << 22;

function* takeAll(end: ChannelEnd, count: () => number): Role {
  const into = new Int32Array(64);
  for (let taken = 0; taken < count(); ) {
    taken += end.take(into);
    end.move();
    yield;
  }
}

/** One side appends until nothing fits while the other takes nothing; then all of it comes. */
const full: ChannelCase = {
  name: "a full channel says so, and lets through when the other end has taken something",
  retention: "until-acknowledged",
  *client({ end, check }) {
    const taken = yield* stuff(end);
    check(taken >= conformanceWordsMax && taken < underWayWordsMax, `${taken} words fit`);
    const counts = Int32Array.of(taken);
    while (end.append(counts, 0, 1) === 0) {
      end.move();
      yield;
    }
    while (end.stable !== end.born) {
      end.move();
      yield;
    }
  },
  *service(side) {
    const end = yield* connected(side);
    // Nobody takes anything for a while, but the connection moves.
    for (let turns = 0; turns < 400; turns++) {
      end.move();
      yield;
    }
    const into = new Int32Array(50);
    let heard = 0;
    for (let last = 0; last === 0; ) {
      const count = end.take(into);
      heard += count;
      if (count > 0) last = into[count - 1]!;
      if (last > 0) side.check(last === heard - 1, `${heard - 1} words came, ${last} were said`);
      end.move();
      if (last === 0) yield;
    }
  },
};

const fullBack: ChannelCase = {
  name: "a full channel back says so, and lets through when the client has taken something",
  retention: "until-acknowledged",
  *client({ end }) {
    for (let turns = 0; turns < 400; turns++) {
      end.move();
      yield;
    }
    // The service says last how many words there were before.
    const into = new Int32Array(50);
    for (let last = 0; last === 0; ) {
      const count = end.take(into);
      if (count > 0) last = into[count - 1]!;
      end.move();
      yield;
    }
    while (end.append(Int32Array.of(1), 0, 1) === 0) yield;
    while (end.stable !== end.born) {
      end.move();
      yield;
    }
  },
  *service(side) {
    const end = yield* connected(side);
    const taken = yield* stuff(end);
    side.check(taken >= conformanceWordsMax && taken < underWayWordsMax, `${taken} words fit`);
    while (end.append(Int32Array.of(taken), 0, 1) === 0) {
      end.move();
      yield;
    }
    yield* takeAll(end, () => 1);
    while (end.stable !== end.born) {
      end.move();
      yield;
    }
  },
};

const cuts: ChannelCase = {
  name: "connections that are cut at any moment lose nothing, double nothing, both ways",
  retention: "until-acknowledged",
  client: (side) => talk(side, side.end, [...small, 30_000, ...small], [...small, 20_000, ...small]),
  *service(side) {
    const role = talk(side, yield* connected(side), [...small, 20_000, ...small], [...small, 30_000, ...small]);
    for (let turn = 0; role.next().done !== true; turn++) {
      // Soon after they are made, and later and later; and so often that a fast channel is not done before some are cut.
      if (turn % 7 === turn % 11 || turn % 20 === 19) side.cut();
      yield;
    }
  },
};

/** Words that are numbers: the stream tells where it is. */
function* count(end: ChannelEnd, to: number): Role {
  for (let number = wordsBetween(0, end.born); number < to; ) {
    number += end.append(Int32Array.of(number), 0, 1);
    end.move();
    yield;
  }
}

const lost: ChannelCase = {
  name: "a service that has lost its memory is told all that is kept; its own words begin anew",
  retention: "until-trimmed",
  *client({ end, check }) {
    const heard: string[] = [];
    const text = new TextDecoder();
    let losses = 0;
    const sink = new WholeMessages(1 << 20, (message) => heard.push(text.decode(message)));
    sink.lost = () => {
      losses++;
    };
    const reader = new MessageReader(end, sink);
    yield* count(end, 500);
    while (!heard.includes("again")) {
      const { stable } = end;
      reader.read();
      end.move();
      check(wordsBetween(stable, end.stable) >= 0, "what is stable stays so");
      yield;
    }
    yield* count(end, 600);
    while (end.stable !== end.born) {
      end.move();
      yield;
    }
    // "half" was never whole.
    check(heard.join(" ") === "first again", `heard ${heard.join(" ")}`);
    check(losses === 1, `${losses} messages were lost in the middle`);
  },
  *service(side) {
    const first = yield* connected(side);
    const writer = new MessageWriter(first);
    writer.offer(new TextEncoder().encode("first"));
    // A message of which the rest never comes.
    first.append(Int32Array.of(1000, 1, 2, 3), 0, 4);
    yield* takeNumbers(side, first, 0, 300);
    while (first.stable !== first.born) {
      first.move();
      yield;
    }
    side.trim(200);
    side.lose();
    let second = side.end();
    while (second === undefined || second === first) {
      yield;
      second = side.end();
    }
    new MessageWriter(second).offer(new TextEncoder().encode("again"));
    yield* takeNumbers(side, second, 200, 600);
    while (second.stable !== second.born) {
      second.move();
      yield;
    }
  },
};

/** The words of the client's stream from a position on are their own positions. */
function* takeNumbers(side: Side, end: ChannelEnd, from: number, to: number): Role {
  const into = new Int32Array(1);
  for (let number = from; number < to; ) {
    if (end.take(into) === 1) side.check(into[0] === number++, `word ${into[0]} at ${number - 1}`);
    end.move();
    if (number < to) yield;
  }
}

const fenced: ChannelCase = {
  name: "a newer life takes the connection; the older one is refused, not acknowledged and not heard",
  retention: "until-acknowledged",
  *client({ end, incarnation, check }) {
    if (incarnation === 0) {
      while (!end.isFenced) {
        end.append(Int32Array.of(10), 0, 1);
        end.move();
        yield;
      }
      const { stable } = end;
      for (let turns = 0; turns < 50; turns++) {
        end.append(Int32Array.of(10), 0, 1);
        end.move();
        yield;
      }
      check(end.stable === stable, "the older life is not acknowledged any more");
      return;
    }
    for (let said = 0; said < 100; ) {
      said += end.append(Int32Array.of(11), 0, 1);
      end.move();
      yield;
    }
    while (end.stable !== end.born) {
      end.move();
      yield;
    }
    check(!end.isFenced, "the newer life is not refused");
  },
  *service(side) {
    const old = yield* connected(side);
    yield* takeAll(old, () => 20);
    side.nextLife();
    while (side.end() === old) {
      old.take(new Int32Array(64));
      yield;
    }
    const end = yield* connected(side);
    const into = new Int32Array(64);
    for (let heard = 0; heard < 100; ) {
      const count = end.take(into);
      side.check(
        into.subarray(0, count).every((word) => word === 11),
        "only the newer life is heard",
      );
      heard += count;
      end.move();
      // The older one tries again, and is refused.
      yield;
    }
  },
};

export const channelCases: readonly ChannelCase[] = [fifo, large, kept, full, fullBack, cuts, lost, fenced];
