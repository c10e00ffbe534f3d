/** A client's end in ordinary memory, for clients that are one thread. Its host makes the connections and says when they are gone. */
import { type ChannelHello, type ClientEnd, type Retention, type Wire, wordsBetween } from "./channel.ts";
import { Connection, canResume, connectionWords } from "./connection.ts";
import { MemoryIncoming, MemoryOutgoing } from "./memory-streams.ts";

export interface MemoryClientOptions {
  readonly client: number;
  readonly incarnation: number;
  readonly retention: Retention;
  /** Bounds of both streams here. */
  readonly outgoingWordsMax: number;
  readonly incomingWordsMax: number;
  /** See `Incoming`. */
  readonly unsaidWordsMax?: number;
  /** What is appended leaves at once if it can, not when somebody moves the connection. */
  readonly sendsItself?: boolean;
  /** What lives before have said, as far as it was acknowledged, from a position on: it is kept, and the stream goes on behind it. */
  readonly begin?: number;
  readonly known?: Int32Array;
}

interface MemoryClientPorts {
  /** The connection is of no use any more: another is wanted. */
  broken(): void;
  /** `stable` has changed. */
  settled(): void;
}

export class MemoryClient implements ClientEnd {
  readonly #options: MemoryClientOptions;
  readonly #ports: MemoryClientPorts;
  readonly #outgoing: MemoryOutgoing;
  readonly #incoming: MemoryIncoming;
  readonly #connection: Connection;
  #wire: Wire | null = null;
  #isFenced = false;

  constructor(options: MemoryClientOptions, ports: MemoryClientPorts) {
    const { retention, outgoingWordsMax, incomingWordsMax, unsaidWordsMax = 0, begin = 0, known } = options;
    this.#options = options;
    this.#ports = ports;
    this.#outgoing = new MemoryOutgoing({ retention, wordsMax: outgoingWordsMax, begin });
    if (known !== undefined) this.#outgoing.preset(known);
    this.#incoming = new MemoryIncoming({ wordsMax: incomingWordsMax, unsaidWordsMax });
    this.#connection = new Connection({
      words: new Int32Array(connectionWords),
      at: 0,
      outgoing: this.#outgoing,
      incoming: this.#incoming,
      listener: null,
    });
  }

  get born(): number {
    return this.#outgoing.born;
  }

  get sent(): number {
    return this.#outgoing.sent;
  }

  get stable(): number {
    return this.#outgoing.stable;
  }

  get origin(): number {
    return this.#incoming.origin;
  }

  get isFenced(): boolean {
    return this.#isFenced;
  }

  append(words: Int32Array, from: number, to: number): number {
    const count = this.#outgoing.append(words, from, to);
    if (count > 0 && this.#options.sendsItself === true) this.#say();
    return count;
  }

  take(into: Int32Array): number {
    return this.#incoming.take(into);
  }

  move(): void {
    if (this.#wire === null) return;
    const { stable } = this;
    const isOpen = this.#connection.move(this.#wire);
    if (!isOpen) this.#wire = null;
    if (this.stable !== stable) this.#ports.settled();
    if (!isOpen) this.#ports.broken();
  }

  #say(): void {
    if (this.#wire === null || this.#connection.say(this.#wire)) return;
    this.#wire = null;
    this.#ports.broken();
  }

  ask(): void {
    if (this.#connection.ask()) this.#say();
  }

  /** No word before that position will be wanted any more. */
  trim(below: number): void {
    this.#outgoing.trim(below);
  }

  // The host's side

  get hello(): ChannelHello {
    const { client, incarnation } = this.#options;
    return { client, incarnation, begin: this.#outgoing.begin };
  }

  /** A service has answered the hello: the position from which on it wants the stream. False: that is gone; say hello again. */
  connected(wire: Wire, wanted: number): boolean {
    if (!canResume(this.#outgoing, wanted)) return false;
    this.#outgoing.resume(wanted);
    this.#connection.begin();
    this.#wire = wire;
    return true;
  }

  disconnected(): void {
    this.#wire = null;
  }

  /** A service has refused this life. */
  refused(): void {
    this.#isFenced = true;
    this.#wire = null;
  }

  /** Words that have not been given to the connection. */
  get unsent(): number {
    return wordsBetween(this.sent, this.born);
  }
}
