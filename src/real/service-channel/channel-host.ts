/**
 * One life of a client, the part in its node's main thread: connects the client to its service, again whenever that is needed, and moves words
 * that no thread waits for. Of a stream that is kept until trimmed it has a copy, for a service that has to be told again, and therefore
 * makes room in the ring; of any other stream the ring itself keeps the words that are not acknowledged.
 */
import type { Socket } from "node:net";
import { type Retention, wordsBetween } from "../../core/service-channel/channel.ts";
import { canResume, openingAndWords } from "../../core/service-channel/connection.ts";
import { WordLog } from "../../core/service-channel/word-log.ts";
import { call } from "../transport/handshake/call.ts";
import { CallVerdict, type Hello, type JobSecret, type ServiceCode } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";
import { descriptorOf } from "../transport/sockets/raw-socket.ts";
import { ChannelDriver } from "./channel-driver.ts";
import {
  channelOfThread,
  createChannelRing,
  enterRing,
  Head,
  headWords,
  type RingCalls,
  type SharedChannel,
} from "./channel-ring.ts";

interface ChannelHostOptions {
  readonly job: JobSecret;
  readonly service: ServiceCode;
  readonly client: number;
  readonly incarnation: number;
  /** Threads that will use it, besides the main thread. */
  readonly threads: number;
  readonly retention: Retention;
  /** Known words of a stream that is kept until trimmed, from a position on. The stream goes on behind them. */
  readonly from?: number;
  readonly known?: Int32Array;
  /** Of the rings. */
  readonly words?: number;
  readonly incomingWords?: number;
  readonly unsaidWordsMax?: number;
}

/** The time until the next attempt to connect, or to send words that found no room. */
const againMs = 20;
const nothing = new Int32Array(0);

export class ChannelHost {
  readonly #options: ChannelHostOptions;
  readonly #channel: SharedChannel;
  readonly #head: Int32Array;
  readonly #ring: Int32Array;
  readonly #calls: RingCalls;
  readonly #driver: ChannelDriver;
  /** Null: the ring itself keeps the words. */
  readonly #kept: WordLog | null;
  #address: Address | null = null;
  #socket: Socket | null = null;
  #isConnecting = false;
  /** A call that has not been answered. */
  #attempt: Socket | null = null;
  /** The service does not hear this life any more. */
  #isFenced = false;
  /** The next attempts to connect, and to send words that found no room. */
  #connecting: NodeJS.Timeout | undefined;
  #relaying: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ChannelHostOptions) {
    const { retention, threads, from = 0, known = nothing, words, incomingWords, unsaidWordsMax = 0 } = options;
    this.#options = options;
    this.#channel = createChannelRing({
      retention,
      position: (from + known.length) | 0,
      threads: threads + 1,
      unsaidWordsMax,
      ...(words === undefined ? {} : { words }),
      ...(incomingWords === undefined ? {} : { incomingWords }),
    });
    const { buffer } = this.#channel.memory;
    this.#head = new Int32Array(buffer, 0, headWords);
    this.#ring = new Int32Array(buffer, 4 * headWords, this.#channel.words);
    this.#calls = enterRing(this.#channel);
    this.#driver = new ChannelDriver(this.#channel, this.#calls);
    this.#kept = retention === "until-trimmed" ? new WordLog(from) : null;
    this.#kept?.append(known);
  }

  /** For the n-th of its threads. */
  forThread(index: number): SharedChannel {
    return channelOfThread(this.#channel, index + 1);
  }

  /** There is a service, perhaps a new one. */
  connectTo(address: Address): void {
    this.#address = address;
    // A call to the old address, which may never be answered, is given up.
    this.#attempt?.destroy();
    this.#connect();
  }

  /** No word before that position will be wanted any more. */
  trim(below: number): void {
    this.#kept?.trim(below);
  }

  /** The bell has rung: a thread may have appended, or waits for a connection. */
  relay(): void {
    if (this.#isClosed) return;
    const born = this.#calls.heed();
    const arrived = this.#calls.arrived();
    this.#driver.drive();
    // What has come here does not end a sleep over the socket.
    if (this.#calls.arrived() !== arrived) this.wake();
    this.#keep(born);
    if (this.#driver.isBroken) this.#connectSoon();
    else if (this.#calls.sent() !== born) this.#relaySoon();
  }

  /** The thread that sleeps over the connection, if one does: there is something for it. */
  wake(): void {
    this.#driver.wake();
  }

  /** Words that are kept here and have been sent need not be in the ring any more. */
  #keep(born: number): void {
    const kept = this.#kept;
    if (kept === null) return;
    const count = wordsBetween(kept.end, born);
    const from = kept.end & (this.#ring.length - 1);
    kept.append(this.#ring.subarray(from, from + count));
    if (kept.end !== born) kept.append(this.#ring.subarray(0, wordsBetween(kept.end, born)));
    const sent = this.#calls.sent();
    this.#calls.free(wordsBetween(kept.end, sent) < 0 ? sent : kept.end);
  }

  #relaySoon(): void {
    clearTimeout(this.#relaying);
    this.#relaying = setTimeout(() => this.relay(), againMs);
  }

  /** Once, however often it is asked for meanwhile. */
  #connectSoon(): void {
    this.#connecting ??= setTimeout(() => {
      this.#connecting = undefined;
      if (this.#socket === null || this.#driver.isBroken) this.#connect();
    }, againMs);
  }

  /** Closes the old connection, if there is one. False: a thread uses it just now. */
  #disconnect(): boolean {
    if (this.#socket === null) return true;
    if (!this.#driver.connect(-1, this.#calls.sent())) return false;
    this.#socket.destroy();
    this.#socket = null;
    return true;
  }

  #connect(): void {
    const address = this.#address;
    if (this.#isClosed || this.#isFenced || address === null || this.#isConnecting) return;
    if (!this.#disconnect()) {
      setImmediate(() => this.#connect());
      return;
    }
    const { job, service, client, incarnation } = this.#options;
    const begin = this.#kept?.begin ?? this.#driver.outgoing.begin;
    const hello: Hello = {
      service,
      from: client,
      to: begin >>> 0,
      incarnation,
      wanted: address.port,
      generation: 1,
    };
    this.#isConnecting = true;
    const socket = call({ ...address, job, hello }, (answer) => {
      this.#isConnecting = false;
      this.#attempt = null;
      if (answer?.verdict === CallVerdict.ABSENT) this.#fence();
      if (this.#isClosed || this.#isFenced) socket.destroy();
      else if (answer === null || address !== this.#address) {
        socket.destroy();
        this.#connectSoon();
      } else this.#catchUp(socket, answer.generation | 0);
    });
    this.#attempt = socket;
  }

  #fence(): void {
    this.#isFenced = true;
    Atomics.store(this.#head, Head.FENCED, 1);
    this.wake();
  }

  /** Sends the service the words it lacks, as far as they are kept here; those behind them are in the ring. */
  #catchUp(socket: Socket, wanted: number): void {
    const { outgoing, incoming } = this.#driver;
    this.#keep(this.#calls.born());
    const kept = this.#kept;
    const here = { begin: kept?.begin ?? outgoing.begin, born: kept?.end ?? outgoing.born };
    // Trimmed meanwhile: the next hello says so. Or it asks for words that never were, which leads nowhere.
    if (!canResume(here, wanted)) {
      socket.destroy();
      this.#connectSoon();
      return;
    }
    const said = openingAndWords(outgoing, incoming, kept?.read(wanted) ?? nothing);
    const to = kept?.end ?? wanted;
    this.#isConnecting = true;
    let isWritten = false;
    const written = (error?: Error | null): void => {
      if (isWritten) return;
      isWritten = true;
      if (!(error instanceof Error)) {
        this.#handOver(socket, to);
        return;
      }
      this.#isConnecting = false;
      socket.destroy();
      this.#connectSoon();
    };
    socket.once("close", () => written(new Error("closed")));
    // The caller hears of errors; they close the connection.
    socket.write(new Uint8Array(said.buffer), written);
  }

  #handOver(socket: Socket, position: number): void {
    const fd = descriptorOf(socket);
    if (!this.#isClosed && fd >= 0 && !this.#driver.connect(fd, position)) {
      setImmediate(() => this.#handOver(socket, position));
      return;
    }
    this.#isConnecting = false;
    if (this.#isClosed || fd < 0) {
      socket.destroy();
      this.#connectSoon();
      return;
    }
    this.#socket = socket;
    this.relay();
    this.wake();
  }

  /** All threads that could use it are gone. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#connecting);
    clearTimeout(this.#relaying);
    this.#attempt?.destroy();
    this.#socket?.destroy();
    this.#driver.end();
  }
}
