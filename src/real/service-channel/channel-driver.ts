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
import { connectionAt, Head, type RingCalls, type SharedChannel } from "./channel-ring.ts";
import { RingIncoming, RingOutgoing } from "./ring-streams.ts";

/** Outcomes of socket calls are those of wires. */
wouldBlock satisfies typeof WOULD_BLOCK;
closed satisfies typeof CLOSED;

/** A thread that sleeps until the service answers does nothing else meanwhile. */
const napMs = 1;

export class ChannelDriver {
  readonly outgoing: RingOutgoing;
  readonly incoming: RingIncoming;
  readonly #channel: SharedChannel;
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

  constructor(channel: SharedChannel, calls: RingCalls) {
    this.#channel = channel;
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
    if (this.#sockets === null || this.#sockets.wait(napMs) < 0) Atomics.wait(this.#never, 0, 0, napMs);
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

  get isBroken(): boolean {
    return this.#words[Head.BROKEN] === 1;
  }

  /** The connection will not be used any more. */
  end(): void {
    this.#sockets?.end();
  }
}
