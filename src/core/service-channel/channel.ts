/**
 * A channel between a client (a life of a rank, of a correlated set, of a node) and a service (a process of its own: the event
 * logger, a channel memory). Implementations: real/service-channel (shared memory and a socket), sim/service-channel. One conformance
 * suite (`testing/channel-conformance.ts`) runs on both.
 *
 * A channel is two streams of 32-bit words, one each way. A *position* counts the words of a stream from its beginning; positions
 * wrap as 32-bit integers, and no two that are compared are 2^31 apart. Payloads of bytes are framed in words (`messages.ts`).
 *
 * What an implementation promises:
 * 1. Each stream is FIFO: words arrive in the order in which they were appended, each once, unchanged.
 * 2. Positions are acknowledged both ways. `stable` of an end is never beyond what the other end has settled, and never goes back,
 *    not even when another service takes the place of one that was lost.
 * 3. Nothing blocks, nothing is dropped. A full channel says so: `append` takes fewer words than it was given, perhaps none. Memory
 *    at both ends and between them is bounded (of a stream that is kept until trimmed: by the user that trims it).
 * 4. A connection that breaks is made again, also to a service that was started again elsewhere. Words are sent again from the
 *    position that the service says it lacks. A service that has lost its memory is told all that the client still keeps:
 *    a stream is kept until it is acknowledged, or until the client is told to trim, whichever the channel was made for.
 * 5. The stream back belongs to one service process and one life of the client. When another process takes the service's place, its
 *    stream begins anew, behind all that the client has taken; `origin` changes, and a message of which only a part had come is
 *    never completed.
 * 6. A client has one connection, that of its newest life. An older life is refused for good: it is never acknowledged again,
 *    and nothing of it arrives. Its end says `isFenced`.
 *
 * What a caller promises: it calls `move` and `take` again and again while it waits for anything. Acknowledgements travel behind
 * words, so an end that takes nothing is acknowledged nothing once its own memory for incoming words is full.
 */

/** One end of a channel, for its user. */
export interface ChannelEnd {
  /** Position behind the last word that was appended here. */
  readonly born: number;
  /** Position up to which the other end has acknowledged. */
  readonly stable: number;
  /** Words `from` … `to` − 1 of an array, as many as there is room for: how many were taken. */
  append(words: Int32Array, from: number, to: number): number;
  /** The first words of an array, so many, and others behind them: of all together as many as there is room for. Where that is better than two calls. */
  appendWith?(first: Int32Array, count: number, others: Int32Array): number;
  /** The oldest words that have come, at most as many as fit: how many. All of them are of one `origin`. */
  take(into: Int32Array): number;
  /** Nothing has come that could be taken, where that is known without a look. */
  readonly isEmpty?: boolean;
  /** Which process at the other end the words taken last are from: another number, another process. */
  readonly origin: number;
  /** Sends and receives what can be sent and received now. */
  move(): void;
}

/** A client's end. */
export interface ClientEnd extends ChannelEnd {
  /** A newer life of this client is known to the service: nothing of this one will be heard. */
  readonly isFenced: boolean;
  /** The user waits until all that was appended so far is stable: the service is asked to say so at once. Asked again for nothing new, it changes nothing. */
  ask(): void;
}

/** How long the client's words are kept for a service that may have to be told again. */
export type Retention = "until-acknowledged" | "until-trimmed";

/** What a caller says of itself to a service. */
export interface ChannelHello {
  readonly client: number;
  readonly incarnation: number;
  /** Position of the first word that the client still has. */
  readonly begin: number;
}

/** Bytes of a memory that stand in a row. Filled by who is asked for one, so that none is made each time. */
export interface Stretch {
  memory: Uint8Array;
  at: number;
  bytes: number;
}

/** Words on their way to the other end: what a connection (connection.ts) asks of the memory that they are in. */
export interface Outgoing {
  /** Position of the first word that is still here. */
  readonly begin: number;
  readonly born: number;
  /** Position behind the last word that was given to the present connection. */
  readonly sent: number;
  readonly stable: number;
  /** Copies words from `sent` on, at most `max`: how many. They count as sent. */
  send(into: Int32Array, at: number, max: number): number;
  /** The other end has all before that position, which is at most `sent`. An older position changes nothing. */
  acknowledge(position: number): void;
  /** A new connection goes on at that position, which is here. */
  resume(position: number): void;
  /** Of a stream whose words stay where they are until they are acknowledged: so a connection can send them from there. */
  readonly lasting?: LastingWords;
}

export interface LastingWords {
  /** Words from `sent` on, at most `max`, count as sent: how many. */
  count(max: number): number;
  /** The words from a position on that was sent and not acknowledged, as many as stand in a row. */
  find(position: number, into: Stretch): void;
}

/** Words that arrive from the other end: what a connection asks of the memory that they go to. */
export interface Incoming {
  /** Position of the next word. */
  readonly arrived: number;
  /** Everything before it may be acknowledged: it has arrived, or has been stored, whatever the user wants the other end to rely on. */
  readonly settled: number;
  /**
   * So many settled words may be acknowledged later, with words of this end or when the other end asks: few need to know, and each acknowledgement of
   * its own costs a system call here and a wake-up there. Unless given every one is said at once.
   */
  readonly unsaidWordsMax?: number;
  /** Words from `arrived` on. How many were taken (fewer: there is no room); `refused`: this life is not heard any more. */
  receive(words: Int32Array, at: number, count: number): number;
  /** Where words from `arrived` on can be written instead, at most `max` of them: those that stand in a row; no bytes: there is no room. */
  place?(max: number, into: Stretch): void;
  /** So many words have been written there. As `receive`, but for that there was room. */
  placed?(count: number): number;
  /** Everything that has come for now has been received: the moment to store it, with one write for all of it. */
  settle?(): void;
  /** The process at the other end that the words were from so far; 0: there was none. */
  readonly origin: number;
  /** From here on words are from that process. False: words of the one before have not been taken yet; ask again. */
  beginAnew(origin: number): boolean;
}

/** Of `Incoming.receive`. */
export const refused = -1;

/** A connection's bytes, as non-blocking sockets have them. */
export interface Wire {
  /**
   * From and to a byte offset of the connection's memory, or of a stream's (`Stretch`). A positive number of bytes, `wouldBlock` or
   * `closed`. `more`: another send follows at once, they may leave together.
   */
  send(memory: Uint8Array, at: number, bytes: number, more?: boolean): number;
  receive(memory: Uint8Array, at: number, bytes: number): number;
}
export const wouldBlock = -1;
export const closed = -2;

/** How far `to` is behind `from`; negative: it is before. */
export const wordsBetween = (from: number, to: number): number => (to - from) | 0;
