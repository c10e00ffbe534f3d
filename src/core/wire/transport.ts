/**
 * How packets get from process to process. Implementations: shared-memory rings and TCP (real/transport), the simulated
 * network (sim). One conformance suite (`testing/transport-conformance.ts`) runs on all of them.
 *
 * Processes are known here by their numbers, which say where packets go. The identity in which a process speaks is another thing: it
 * (packet.ts) is written into every packet, unless the caller speaks on behalf of another process.
 *
 * What an implementation promises:
 * 1. Channels are FIFO: packets committed to one destination arrive in that order, each once, unchanged. Between channels
 *    nothing is promised.
 * 2. Nothing blocks and nothing throws. `reserve` answers −1 when the channel is full, and says so at most until the
 *    receiver has made room: a caller that asks again after the world woke it gets through. A channel to a dead or finished
 *    process takes packets and drops them.
 * 3. Between `reserve` and `commit` of a process no other call of that process happens on the transport.
 * 4. A packet seen by `peek` stays in place, readable in `words`, until `release`.
 * 5. A process that dies at any point, also between `reserve` and `commit`, never stops the packets of other processes.
 *
 * What a caller promises: it calls `peek` / `release` again and again while it waits for anything (its own ring must keep
 * moving or two full rings wait for each other), and it writes all header words the packet's kind defines except STAMP,
 * SOURCE and PAYLOAD, which the transport writes; in KIND the kind alone, which the transport adds the sender's bits to.
 */
import type { Sender } from "./packet.ts";

export interface Transport {
  /** Where packets lie, both those being written and those that have arrived. */
  readonly words: Int32Array;

  /** Largest payload of one packet to that process. Messages up to it may travel eagerly. */
  eagerBytesMax(to: number): number;
  /** The largest payload of a packet from any process. */
  readonly payloadBytesMax: number;

  /**
   * Room for a packet with that much payload: its first word, or −1 when the channel is full. Write the payload first, at
   * `payload`, then the header words, then `commit`: the receiver looks at the header's cache line all the time, and takes
   * it away from a sender that dawdles between two words of it (100 ns each time, on rings).
   */
  reserve(to: number, payloadBytes: number): number;
  /** Byte offset of the payload of the packet reserved last. */
  readonly payload: number;
  /** Sends the packet reserved last, on behalf of another one than the transport's owner if `as` is given. */
  commit(to: number, as?: Sender): void;

  /** First word of the oldest arrived packet, or −1. */
  peek(): number;
  /** Done with the packet seen by `peek`. */
  release(): void;

  /** Can this process read and write that one's shareable memory directly? */
  shares(peer: number): boolean;

  /**
   * A piece of a large message, straight from the program's buffer: takes up to `bytes` bytes at `offset` of `from` for
   * the receive request `receive` of `to`, and returns how many it took; 0 when the channel is full. It arrives as one
   * or more FRAGMENT packets, or (where the transport wrote the bytes into the receiver's buffer itself, see `Landing`) as
   * FRAGMENT packets without payload. `as`: see `commit`; the same for all pieces of a message.
   */
  push(to: number, receive: number, from: number, offset: number, bytes: number, as?: Sender): number;

  /**
   * Both sides can read each other's memory: copies `bytes` bytes from `peerPointer` in the peer's memory to `to` in ours,
   * for the receive request `receive` whose sender's request is `send`. True: done. False: the peer has been asked to help;
   * `fetched(receive)` will say when all is there. Also false, and `fetched` says false for ever, when the peer's life
   * has ended meanwhile (rule 11: such a copy does not count): its death will be announced as always, then `unfetch`.
   */
  fetch(peer: number, receive: number, send: number, to: number, peerPointer: number, bytes: number): boolean;
  fetched(receive: number): boolean;
  /** The peer died: forget the fetch for that receive, if one is under way. */
  unfetch(receive: number): void;
  /** A HELP packet of that peer has come, its first word is `packet`: do a share of the copying of our buffer `from`. */
  help(peer: number, packet: number, from: number): void;
  /** We may write into the peer's memory: the whole message from our buffer, at once. */
  put(peer: number, peerPointer: number, from: number, bytes: number): void;
}

/**
 * Where a piece of a large message may be written by a transport that reads bytes itself (a socket): the engine gives
 * it to the transport, which asks for the buffer of a receive request.
 */
export interface Landing {
  /** Pointer of the receive's buffer, or NaN when the piece must come as a packet. */
  landingOf(receive: number, offset: number, bytes: number): number;
}
