/**
 * The connection of a client to its service, driven by whichever thread of the node finds it free: one that waits for the service, or
 * the main thread for threads that do not wait. It is a non-blocking socket whose descriptor stands in shared memory, as does the
 * state of the connection: nothing is between a thread and the service but system calls.
 *
 * No thread waits for the driver, which takes a microsecond or two. A thread that dies as the driver ends its life, and the connection
 * is that life's alone. The main thread makes the connection, and closes it only while it drives itself, or when all threads that could
 * use it are gone.
 *
 * Words of shared memory, all of them for the driver alone: `NUMBER`, the connection's, which changes with every new one; `FD`, its
 * descriptor, −1: none; `BROKEN`, 1: another is wanted.
 */
import { closed, type Wire, wouldBlock } from "../../core/service-channel/channel.ts";
import { Connection } from "../../core/service-channel/connection.ts";
import { openSocketCallsOver } from "../transport/sockets/open-socket-calls.ts";
import { type CLOSED, type SocketCalls, scratchBytes, type WOULD_BLOCK } from "../transport/sockets/socket-calls.ts";
import { writeWake } from "../transport/sockets/wake.ts";
import { connectionAt, Head, type RingCalls, type SharedChannel } from "./channel-ring.ts";
import { RingIncoming, RingOutgoing } from "./ring-streams.ts";

/** Outcomes of socket calls are those of wires. */
wouldBlock satisfies typeof WOULD_BLOCK;
closed satisfies typeof CLOSED;

/** The sleep of a thread that nobody but the service can wake. */
const napMs = 1;

export class ChannelDriver {
  readonly outgoing: RingOutgoing;
  readonly incoming: RingIncoming;
  readonly #channel: SharedChannel;
  readonly #isSleeper: boolean;
  readonly #words: Int32Array;
  readonly #calls: RingCalls;
  readonly #connection: Connection;
  readonly #wire: Wire;
  /** Made when there is a connection. */
  #sockets: SocketCalls | null = null;
  /** The connection that this thread has used last. */
  #number = 0;
  #fd = -1;
  #isAsking = false;
  readonly #never = new Int32Array(new SharedArrayBuffer(4));
  /** Others whose services end a sleep of this thread. */
  readonly #watched = new Set<ChannelDriver>();

  /** `isSleeper`: this is the thread that sleeps over the connection, and that others wake. */
  constructor(channel: SharedChannel, calls: RingCalls, isSleeper = false) {
    this.#channel = channel;
    this.#isSleeper = isSleeper;
    this.#words = new Int32Array(channel.memory.buffer);
    this.#calls = calls;
    this.outgoing = new RingOutgoing(channel, calls);
    this.incoming = new RingIncoming(channel, calls);
    const { outgoing, incoming } = this;
    // Its offsets, and those of the rings, are those of the shared memory.
    this.#connection = new Connection({
      words: this.#words,
      at: connectionAt(channel),
      outgoing,
      incoming,
      listener: null,
    });
    this.#wire = {
      send: (_memory, at, bytes, more) => this.#sockets?.send(this.#fd, at, bytes, more) ?? closed,
      receive: (_memory, at, bytes) => this.#sockets?.receive(this.#fd, at, bytes) ?? closed,
    };
  }

  /** Sends the words in the ring and receives those that have come. False: there is no connection. */
  drive(): boolean {
    if (this.#calls.tryDrive() === 0) return true;
    const isThere = this.#move(false);
    this.#calls.leaveDrive();
    return isThere;
  }

  /** Sends the words in the ring. False: not all of them have left. */
  say(): boolean {
    if (this.#calls.tryDrive() === 0) return false;
    this.#move(true);
    this.#calls.leaveDrive();
    return this.#calls.sent() === this.#calls.born() && !this.#connection.isBlocked;
  }

  /** The thread waits for an acknowledgement of all that was appended: asked for when it drives next. */
  ask(): void {
    this.#isAsking = true;
  }

  /** Waits a moment for the service. */
  nap(): void {
    if (this.#sockets === null || this.#wait(this.#sockets, napMs) < 0) Atomics.wait(this.#never, 0, 0, napMs);
  }

  /** Does `sleep` end for the service, and for whoever wakes this thread? Not while there is no connection: it would not end for the next one. */
  get canSleep(): boolean {
    const { NUMBER, FD } = Head;
    const isThere = this.#words[NUMBER] === this.#number && this.#words[FD]! >= 0;
    return isThere && this.#sockets !== null && this.#sockets.wakeFd >= 0;
  }

  /** Until the service says something, the main thread wakes this one, or that long. */
  sleep(timeoutMs: number): void {
    this.#wait(this.#sockets!, timeoutMs);
  }

  /** A descriptor that can be read when the service has said something; −1: there is none. */
  get readyFd(): number {
    return this.#fd >= 0 && this.#words[Head.FD] === this.#fd ? this.#sockets!.readyFd : -1;
  }

  /** A sleep ends for that connection too. False: not yet. */
  watch(other: ChannelDriver): boolean {
    if (this.#watched.has(other)) return true;
    if (this.#sockets === null || other.#sockets === null || other.#sockets.readyFd < 0) return false;
    this.#sockets.open(other.#sockets.readyFd);
    this.#watched.add(other);
    return true;
  }

  /** Also for room, if there was none for all that is to be said. */
  #wait(sockets: SocketCalls, timeoutMs: number): number {
    const isBlocked = this.#fd >= 0 && this.#words[Head.FD] === this.#fd && this.#connection.isBlocked;
    if (isBlocked) sockets.watchWritable(this.#fd, true);
    const ready = sockets.wait(timeoutMs);
    if (isBlocked) sockets.watchWritable(this.#fd, false);
    return ready;
  }

  #move(saysOnly: boolean): boolean {
    const words = this.#words;
    if (words[Head.NUMBER] !== this.#number) this.#take();
    if (words[Head.NUMBER] === 0 || words[Head.FD]! < 0) return false;
    if (this.#isAsking) this.#connection.ask();
    this.#isAsking = false;
    if (saysOnly ? this.#connection.say(this.#wire) : this.#connection.move(this.#wire)) return true;
    words[Head.FD] = -1;
    words[Head.BROKEN] = 1;
    return false;
  }

  #take(): void {
    if (this.#fd >= 0) this.#sockets!.close(this.#fd);
    this.#number = this.#words[Head.NUMBER]!;
    this.#fd = this.#words[Head.FD]!;
    if (this.#fd < 0) return;
    const { memory, scratch } = this.#channel;
    this.#sockets ??= openSocketCallsOver(memory, () => ({ scratch, scratchBytes }));
    this.#sockets.open(this.#fd);
    if (this.#isSleeper) Atomics.store(this.#words, Head.WAKE, this.#sockets.wakeFd + 1);
  }

  // The main thread's side

  /**
   * From now on, that is the connection; the opening has been said on it, and the stream goes on at that position. Descriptor −1: there
   * is none for a while. False: another thread drives just now; try again.
   */
  connect(fd: number, position: number): boolean {
    if (this.#calls.tryDrive() === 0) return false;
    const words = this.#words;
    words[Head.NUMBER] = words[Head.NUMBER]! + 1;
    words[Head.FD] = fd;
    words[Head.BROKEN] = 0;
    this.#connection.begin(true);
    this.outgoing.resume(position);
    this.#calls.leaveDrive();
    return true;
  }

  /** Ends the sleep of the thread that sleeps over the connection, or its next. */
  wake(): void {
    const eventfd = Atomics.load(this.#words, Head.WAKE) - 1;
    if (eventfd >= 0) writeWake(eventfd);
  }

  get isBroken(): boolean {
    return this.#words[Head.BROKEN] === 1;
  }

  /** The connection will not be used any more. */
  end(): void {
    this.#sockets?.end();
  }
}
