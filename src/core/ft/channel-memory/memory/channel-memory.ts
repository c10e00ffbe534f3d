/**
 * A channel memory: the home of some receivers (docs/adr/0046). A message for one of them is put here by its sender and given to the
 * receiver from here, as often as the receiver has lives; what the receiver chooses is kept here too. Pure: a service of a channel
 * (core/service-channel), with a store.
 *
 *   home.ts           the state of one receiver's home
 *   home-reader.ts    what of it is in memory, and what is not
 *   stored-order.ts   entries or events of a home: the newest in memory, all of them in the store
 *   stored-homes.ts   all homes, and the records in the store that outlive the process
 *   delivery.ts       what one life of a rank is told
 *
 * What is acknowledged is in the store, and what a receiver is told about the order of its messages is in the store before.
 */
import { copyWords } from "../../../base/copy-words.ts";
import { type ChannelHello, type Incoming, refused, type Stretch } from "../../../service-channel/channel.ts";
import { MemoryOutgoing } from "../../../service-channel/memory-streams.ts";
import type { ServiceStreams, ServiceUser } from "../../../service-channel/service-clients.ts";
import { sharedWordsMin } from "../../../service-channel/word-blocks.ts";
import {
  FromMemory,
  frameHeadWords,
  moreFrameFacts,
  postFrameFacts,
  ToMemory,
  WordFrameReader,
  wordsFor,
} from "../frames.ts";
import type { MemoryLimits } from "../limits.ts";
import { Delivery } from "./delivery.ts";
import { NotedRanks } from "./noted-ranks.ts";
import type { StoredHomes } from "./stored-homes.ts";

interface ChannelMemoryOptions {
  readonly ranks: number;
  readonly limits: MemoryLimits;
  /** Words on their way to a rank at most. */
  readonly outgoingWordsMax: number;
  /** See `Incoming`. */
  readonly unsaidWordsMax: number;
  /** Is that rank's home here? */
  isHome(rank: number): boolean;
}

/** What a life is told. */
class LifeOutgoing extends MemoryOutgoing {
  /** Acknowledgements make room for more of it. */
  hasRoom: () => void = () => {};

  override acknowledge(position: number): void {
    super.acknowledge(position);
    this.hasRoom();
  }
}

/** One life of a rank, as this process of the memory knows it. */
class Life {
  readonly rank: number;
  readonly incarnation: number;
  readonly delivery: Delivery;
  readonly outgoing: LifeOutgoing;
  readonly reader: WordFrameReader;
  arrived: number;
  settled: number;

  constructor(
    { client, incarnation, begin }: ChannelHello,
    { outgoing, delivery, reader }: Pick<Life, "outgoing" | "delivery" | "reader">,
  ) {
    this.rank = client;
    this.reader = reader;
    this.incarnation = incarnation;
    this.outgoing = outgoing;
    this.delivery = delivery;
    this.arrived = begin;
    this.settled = begin;
  }
}

interface LifeIncomingParts {
  readonly unsaidWordsMax: number;
  /** Has no newer life taken its place? */
  isHeard(): boolean;
  /** So many words have come to the reader. How many were taken, or `refused`. */
  came(count: number): number;
  /** All that has come, from whichever life, is written. */
  settle(): void;
}

/** What a life says. */
class LifeIncoming implements Incoming {
  readonly unsaidWordsMax: number;
  readonly origin: number;
  readonly #life: Life;
  readonly #parts: LifeIncomingParts;

  constructor(life: Life, parts: LifeIncomingParts) {
    this.unsaidWordsMax = parts.unsaidWordsMax;
    this.origin = life.incarnation + 1;
    this.#life = life;
    this.#parts = parts;
  }

  get arrived(): number {
    return this.#life.arrived;
  }

  get settled(): number {
    return this.#life.settled;
  }

  receive(words: Int32Array, at: number, count: number): number {
    if (!this.#parts.isHeard()) return refused;
    this.#life.reader.feed(words, at, count);
    return this.#parts.came(count);
  }

  place(max: number, into: Stretch): void {
    this.#life.reader.place(max, into);
  }

  placed(count: number): number {
    if (!this.#parts.isHeard()) return refused;
    this.#life.reader.placed(count);
    return this.#parts.came(count);
  }

  settle(): void {
    const life = this.#life;
    this.#parts.settle();
    // Whole frames only: a successor is told the rest again, from there.
    life.settled = (life.arrived - life.reader.pending) | 0;
  }

  beginAnew(): boolean {
    return true;
  }
}

/** Amounts for the summary of a job. */
interface MemoryLoad {
  messages: number;
  bytes: number;
  events: number;
  /** Messages that were said, and had come before. */
  repeated: number;
  /** Bytes of messages that were in memory at most. */
  bytesInMemoryMax: number;
}

export class ChannelMemory implements ServiceUser {
  readonly load: MemoryLoad = { messages: 0, bytes: 0, events: 0, repeated: 0, bytesInMemoryMax: 0 };
  readonly #options: ChannelMemoryOptions;
  readonly #homes: StoredHomes;
  readonly #move: (client: number) => void;
  readonly #lives = new Map<number, Life>();
  /** By receiver: entries before this number are in the store. */
  readonly #settledEnd = new Map<number, number>();
  /** Receivers to whom something can be said that could not before. */
  readonly #news = new NotedRanks();
  readonly #settleAll = (): void => this.#settle();
  readonly #tellNews = (receiver: number): void => this.#tell(receiver);

  /** `move`: there are words for that client. */
  constructor(options: ChannelMemoryOptions, homes: StoredHomes, move: (client: number) => void) {
    this.#options = options;
    this.#homes = homes;
    this.#move = move;
    for (const receiver of homes.receivers) this.#settledEnd.set(receiver, homes.homeOf(receiver).entries.end);
  }

  // Lives

  /** The newest life of a rank has the connection, whichever came first. */
  open(hello: ChannelHello): ServiceStreams | null {
    const { client, incarnation } = hello;
    if (client < 0 || client >= this.#options.ranks || incarnation < this.#homes.lifeOf(client)) return null;
    let life = this.#lives.get(client);
    if (life === undefined || life.incarnation !== incarnation) {
      life = this.#begin(hello);
      this.#lives.set(client, life);
    }
    this.#pump(life);
    return this.#streamsOf(life);
  }

  #begin(hello: ChannelHello): Life {
    const { client, incarnation } = hello;
    if (incarnation > this.#homes.lifeOf(client)) {
      this.#homes.beginLife(client, incarnation);
      this.#homes.settle();
    }
    const { limits, outgoingWordsMax } = this.#options;
    const holds = this.#homes.blocks;
    const outgoing = new LifeOutgoing({ retention: "until-acknowledged", wordsMax: outgoingWordsMax, holds });
    const parts = { homes: this.#homes, home: this.#homes.homeOf(client), limits };
    const delivery = new Delivery(parts, outgoing, this.#greetingFor(client));
    return new Life(hello, { outgoing, delivery, reader: new WordFrameReader(holds) });
  }

  /** The messages of that rank which are here, by their receivers: a life that makes them again need not send them. */
  #greetingFor(client: number): (readonly number[])[] {
    const greeting: (readonly number[])[] = [];
    for (const receiver of this.#homes.receivers) {
      const numbers = this.#homes.homeOf(receiver).received.get(client);
      if (numbers === undefined) continue;
      greeting.push([FromMemory.HELD, receiver, numbers.firstMissing, ...numbers.later]);
    }
    greeting.push([FromMemory.READY]);
    return greeting;
  }

  #streamsOf(life: Life): ServiceStreams {
    const incoming = new LifeIncoming(life, {
      unsaidWordsMax: this.#options.unsaidWordsMax,
      isHeard: () => this.#lives.get(life.rank) === life,
      came: (count) => this.#came(life, count),
      settle: this.#settleAll,
    });
    life.outgoing.hasRoom = () => this.#pump(life);
    return { incoming, outgoing: life.outgoing };
  }

  /** So many words have come to the reader. */
  #came(life: Life, count: number): number {
    const { reader } = life;
    life.arrived = (life.arrived + count) | 0;
    for (let frame = reader.peek(); frame !== null; frame = reader.peek()) {
      if (!this.#take(life, frame)) return refused;
      reader.drop();
    }
    return reader.isBroken ? refused : count;
  }

  #pump({ rank, delivery }: Life): void {
    delivery.pump(this.#settledEnd.get(rank) ?? 0);
  }

  /** All that has come is in the store; those who wait for it are told. */
  #settle(): void {
    const { load } = this;
    this.#homes.settle();
    load.bytesInMemoryMax = Math.max(load.bytesInMemoryMax, this.#homes.bytesInMemory);
    if (!this.#news.isEmpty) this.#news.visit(this.#tellNews);
  }

  #tell(receiver: number): void {
    this.#settledEnd.set(receiver, this.#homes.homeOf(receiver).entries.end);
    const life = this.#lives.get(receiver);
    if (life === undefined) return;
    this.#pump(life);
    this.#move(receiver);
  }

  // Frames

  /** False: no rank of this job says that. */
  #take(life: Life, frame: Int32Array): boolean {
    // Not by a pattern: those walk through an iterator.
    const kind = frame[1];
    if (kind === ToMemory.POST) return this.#takePost(life, frame);
    const { rank, delivery } = life;
    const [, , a = 0, b = 0, c = 0, d = 0] = frame as unknown as readonly number[];
    switch (kind) {
      case ToMemory.MORE:
        return this.#takeMore(life, frame);
      case ToMemory.TAKEN:
        if (!this.#isHome(a)) return false;
        this.#homes.taken(a, rank, b);
        this.#news.add(a);
        return true;
      case ToMemory.EVENT:
        return this.#takeEvent(rank, a, frame.subarray(frameHeadWords + 1));
      case ToMemory.RESUME:
        this.#resume(rank, delivery, frame);
        return true;
      case ToMemory.WANT:
        delivery.want(a, b, { ticket: c, offset: d });
        this.#news.add(rank);
        return true;
      case ToMemory.MARK: {
        const incomplete = [...frame.subarray(frameHeadWords + 3)];
        this.#homes.mark(rank, a, { entries: b, events: c, incomplete });
        return true;
      }
      case ToMemory.FREE:
        this.#homes.free(rank, a);
        return true;
      default:
        return false;
    }
  }

  #isHome(rank: number): boolean {
    return rank >= 0 && rank < this.#options.ranks && this.#options.isHome(rank);
  }

  /** The words of a frame from an index on, which nobody changes any more: many stay where they were received, with others that stand there, at most eight times as many. */
  #kept({ reader }: Life, frame: Int32Array, from: number): Int32Array {
    const count = frame.length - from;
    if (count >= sharedWordsMin) {
      reader.keep();
      return frame.subarray(from);
    }
    // Not by a slice, which asks the frame's class for its kind first.
    const words = new Int32Array(count);
    copyWords(frame, from, words, 0, count);
    return words;
  }

  #takePost(life: Life, frame: Int32Array): boolean {
    const { rank: source } = life;
    if (frame.length < frameHeadWords + postFrameFacts) return false;
    // Not by patterns: before it is optimised, such code walks through iterators.
    const receiver = frame[2]!;
    const sequence = frame[3]!;
    const bytes = frame[6]!;
    if (!this.#isHome(receiver) || bytes < 0) return false;
    const home = this.#homes.homeOf(receiver);
    if (home.has(source, sequence)) {
      this.load.repeated++;
      return true;
    }
    const here = Math.min(bytes, this.#options.limits.pieceBytesMax);
    const from = frameHeadWords + postFrameFacts;
    if (frame.length - from !== wordsFor(here)) return false;
    const known = home.messages.get(source, sequence);
    if (known === undefined) {
      const facts = { source, sequence, context: frame[4]!, tag: frame[5]!, bytes, isSynchronous: frame[7] === 1 };
      this.#homes.post(receiver, facts, here, this.#kept(life, frame, from));
      this.load.messages++;
      this.load.bytes += bytes;
      this.#news.add(receiver);
    }
    // Otherwise a life before has sent as much of it, or more.
    return true;
  }

  #takeMore(life: Life, frame: Int32Array): boolean {
    const { rank: source } = life;
    const [, , receiver, sequence, offset] = frame as unknown as readonly number[];
    if (frame.length < frameHeadWords + moreFrameFacts || !this.#isHome(receiver!)) return false;
    const home = this.#homes.homeOf(receiver!);
    if (home.has(source, sequence!)) return true;
    const message = home.messages.get(source, sequence!);
    if (message === undefined || offset! > message.arrived) return false;
    if (offset! < message.arrived) return true;
    const here = Math.min(message.facts.bytes - offset!, this.#options.limits.pieceBytesMax);
    const from = frameHeadWords + moreFrameFacts;
    if (here <= 0 || frame.length - from !== wordsFor(here)) return false;
    this.#homes.more(receiver!, message, here, this.#kept(life, frame, from));
    this.#news.add(receiver!);
    return true;
  }

  /** An event that is here was said again, because its acknowledgement was lost. */
  #takeEvent(rank: number, number: number, words: Int32Array): boolean {
    const { end } = this.#homes.homeOf(rank).events;
    if (number > end) return false;
    if (number === end) {
      this.#homes.event(rank, words);
      this.load.events++;
    }
    return true;
  }

  #resume(rank: number, delivery: Delivery, frame: Int32Array): void {
    const [, , entry, event] = frame as unknown as readonly number[];
    delivery.resume(entry!, event!, [...frame.subarray(frameHeadWords + 2)]);
    this.#news.add(rank);
  }
}
