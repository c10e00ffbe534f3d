/**
 * The stream of determinants of one life of a set, the part of its node's main thread: connects it to the event logger, sends what
 * nobody waits for, makes room in the ring, and keeps the words that a new event logger would have to be told: those since the
 * oldest image that may be restored.
 */
import type { Socket } from "node:net";
import { EventLogger } from "../../core/ft/logging/event-logger.ts";
import { call } from "../transport/handshake/call.ts";
import { type Hello, type Job, Service, Verdict } from "../transport/handshake/handshake.ts";
import { descriptorOf } from "../transport/tcp/raw-socket.ts";
import type { Address } from "../transport/tcp/tcp-host.ts";
import {
  createDeterminantRing,
  enterRing,
  headWords,
  type RingCalls,
  ringOfThread,
  type SharedRing,
} from "./determinant-ring.ts";
import { StreamDriver } from "./stream-driver.ts";

interface SetStreamOptions {
  readonly job: Job;
  readonly set: number;
  readonly incarnation: number;
  readonly members: number;
  /** What is known of the stream: the words from a position on. The ring begins behind them. */
  readonly from: number;
  readonly known: Int32Array;
}

/** Until it is tried again to connect, or to send what found no room. */
const againMs = 20;

export class SetStream {
  readonly #options: SetStreamOptions;
  readonly #ring: SharedRing;
  readonly #words: Int32Array;
  readonly #calls: RingCalls;
  readonly #driver: StreamDriver;
  readonly #kept = new EventLogger();
  /** Position behind what is kept. */
  #keptTo: number;
  #address: Address | null = null;
  #socket: Socket | null = null;
  #isConnecting = false;
  /** A call that has not been answered. */
  #attempt: Socket | null = null;
  /** The event logger does not hear this life any more. */
  #isFenced = false;
  /** The next attempts to connect, and to send what found no room. */
  #connecting: NodeJS.Timeout | undefined;
  #relaying: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SetStreamOptions) {
    this.#options = options;
    const { set, incarnation, from, known, members } = options;
    this.#keptTo = (from + known.length) | 0;
    this.#ring = createDeterminantRing({ position: this.#keptTo, threads: members + 1 });
    this.#words = new Int32Array(this.#ring.memory.buffer);
    this.#calls = enterRing(this.#ring);
    this.#driver = new StreamDriver(this.#ring, this.#calls);
    this.#kept.open(set, incarnation, from);
    this.#kept.append(set, incarnation, from, known);
  }

  /** For the n-th rank of the set. */
  forMember(index: number): SharedRing {
    return ringOfThread(this.#ring, index + 1);
  }

  /** There is an event logger, perhaps a new one. */
  connectTo(address: Address): void {
    this.#address = address;
    // Whoever is at the old one's address, and perhaps does not answer, is of no interest.
    this.#attempt?.destroy();
    this.#connect();
  }

  /** No image will be restored whose position is lower. */
  trim(below: number): void {
    this.#kept.trim(this.#options.set, below);
  }

  /** The bell has rung: somebody may have appended, or waits for a connection. */
  relay(): void {
    if (this.#isClosed) return;
    const born = this.#calls.heed();
    this.#driver.drive();
    this.#keep(born);
    if (this.#driver.isBroken) this.#connectSoon();
    else if (this.#calls.sent() !== born) this.#relaySoon();
  }

  /** What is kept and has been sent need not be in the ring any more. */
  #keep(born: number): void {
    const { set, incarnation } = this.#options;
    const count = (born - this.#keptTo) | 0;
    const mask = this.#ring.words - 1;
    const from = this.#keptTo & mask;
    const first = Math.min(count, this.#ring.words - from);
    for (const [at, length] of [
      [from, first],
      [0, count - first],
    ] as const) {
      if (length === 0) continue;
      const part = this.#words.subarray(headWords + at, headWords + at + length);
      this.#keptTo = this.#kept.append(set, incarnation, this.#keptTo, part)!;
    }
    const sent = this.#calls.sent();
    this.#calls.free(((sent - this.#keptTo) | 0) < 0 ? sent : this.#keptTo);
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

  /** Nobody uses the old connection any more, if there is one. False: somebody does just now. */
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
    const { job, set, incarnation } = this.#options;
    const begin = this.#kept.begin(set);
    const wanted = address.port;
    const hello: Hello = {
      ...{ service: Service.LOGGER, from: set, to: begin >>> 0 },
      ...{ incarnation, wanted, generation: 1 },
    };
    this.#isConnecting = true;
    const socket = call({ ...address, job, hello }, (answer) => {
      this.#isConnecting = false;
      this.#attempt = null;
      if (answer?.verdict === Verdict.ABSENT) this.#isFenced = true;
      if (this.#isClosed || this.#isFenced) socket.destroy();
      else if (answer === null || address !== this.#address) {
        socket.destroy();
        this.#connectSoon();
      } else this.#catchUp(socket, answer.generation | 0);
    });
    this.#attempt = socket;
  }

  /** Tells the event logger what it lacks; what follows, the ring has. */
  #catchUp(socket: Socket, position: number): void {
    const { set } = this.#options;
    this.#keep(this.#calls.born());
    // Trimmed meanwhile: the next hello says so. Or it wants what there has never been, which leads nowhere.
    if (((position - this.#kept.begin(set)) | 0) < 0 || ((this.#keptTo - position) | 0) < 0) {
      socket.destroy();
      this.#connectSoon();
      return;
    }
    const lacking = this.#kept.read(set, position);
    const words = new Int32Array(1 + lacking.length);
    words[0] = this.#calls.stable();
    words.set(lacking, 1);
    const to = this.#keptTo;
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
    // Errors are heard by who asked; they close it.
    socket.write(new Uint8Array(words.buffer), written);
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
  }

  /** All who could use it are gone. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#connecting);
    clearTimeout(this.#relaying);
    this.#attempt?.destroy();
    this.#socket?.destroy();
    this.#driver.end();
  }
}
