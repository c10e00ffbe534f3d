/**
 * One connection of a channel, as seen from one end: turns the words of both streams into bytes and back. It is the same code at both
 * ends and in both worlds; only the wire and the memory of the streams differ.
 *
 *   caller    opening (3 words: stable · arrived · origin), then segments
 *   listener  opening (1 word: origin), then segments
 *   segment   2 words (acknowledged position · number of words, and whether an acknowledgement is asked for), then that many words of the stream
 *
 * The caller's opening says how far its own stream had been acknowledged by any process of the service, how far the stream back had
 * come, and from which process of the service that was; the listener's opening says which process it is. A segment may be empty:
 * then it is an acknowledgement, or asks for one. A later acknowledgement says all that an earlier one would have, so at most one has not left; an
 * end that need not say each at once (`Incoming.unsaidWordsMax`) says it with its next words, when it has many, or when it is asked.
 *
 * Few words are copied to a stage and leave with the head of their segment. Of many the head leaves alone, and the words from where the
 * stream has them, if it keeps them there (`Outgoing.lasting`); in the same way many words are received to where the stream wants them
 * (`Incoming.place`).
 *
 * All state is in words of a memory that is given, so that threads of a node can take turns: which thread may use them is the host's
 * business. Nothing that comes over the wire is believed: what cannot be an opening or a segment ends the connection.
 */
import {
  closed,
  type Incoming,
  type Outgoing,
  refused,
  type Stretch,
  type Wire,
  wordsBetween,
  wouldBlock,
} from "./channel.ts";

/** Of one segment, without its head. */
export const segmentWordsMax = 1 << 17;
const headWords = 2;
/** Of one that is staged. An even number, as are all sizes here: V8 copies shared words four times as slowly where the places differ by four bytes mod eight. */
const stagedWordsMax = 4094;
const stageWords = headWords + stagedWordsMax;
/** So many words are not staged: another system call costs as much as a copy of them. */
const manyWords = 1 << 10;
const callerOpeningWords = 3;
const listenerOpeningWords = 1;

/** Words of a connection's state, from its first. */
const HAS_HEARD_OPENING = 0;
/** The acknowledgement that was said last. */
const SAID = 1;
/** Words of the present segment that have not come yet. */
const LEFT = 2;
/** Bytes of the stages: what has not left, and what has come and was not understood yet. */
const OUT_FROM = 3;
const OUT_TO = 4;
const IN_TO = 5;
/** 1: the next segment asks for an acknowledgement; and the position up to which that was asked for last. */
const ASKS = 6;
const ASKED = 7;
/** The position up to which the other end has asked for one. */
const OWED = 8;
/** Bytes of the present segment that leave from where the stream has them, behind the stage; they count as sent. */
const OUT_REST = 9;
/** Bytes of a word that has not all come, at the place of the next word that arrives. */
const IN_PART = 10;
const OUT = 12;
const IN = OUT + stageWords;
export const connectionWords = IN + stageWords;

/** In the second word of a segment: the other end waits for an acknowledgement. */
const askingBit = 1 << 30;

/** Most words in one `move`: who waits for what has come is told before more comes. */
const receivedWordsMax = 1 << 16;
/** Of `#receivePlaced`. */
const nothingPlaced = 0;

/** Most turns in one `move`: the caller has other things to do. */
const receivesMax = 16;

/** What a caller says first. */
export interface Opening {
  /** The position up to which its stream has been acknowledged, perhaps by another process of the service. */
  readonly stable: number;
  /** The position up to which the stream back has arrived, */
  readonly arrived: number;
  /** from that process; 0: from none. */
  readonly origin: number;
}

/** The side that was called. */
export interface Listener {
  /** The number of this process of the service, not 0. */
  readonly origin: number;
  /** What the caller has said; from then on words may be sent. False: no client of this job says that. */
  opened(opening: Opening): boolean;
}

interface ConnectionOptions {
  readonly words: Int32Array;
  /** Index of its first word, of `connectionWords`. */
  readonly at: number;
  readonly outgoing: Outgoing;
  readonly incoming: Incoming;
  /** Null: this is the caller's side. */
  readonly listener: Listener | null;
}

export class Connection {
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #at: number;
  readonly #outgoing: Outgoing;
  readonly #incoming: Incoming;
  readonly #listener: Listener | null;
  /** Byte offsets of the stages in the buffer. */
  readonly #outAt: number;
  readonly #inAt: number;
  readonly #stretch: Stretch;
  #moves = 0;

  constructor({ words, at, outgoing, incoming, listener }: ConnectionOptions) {
    this.#words = words;
    this.#bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    this.#at = at;
    this.#outgoing = outgoing;
    this.#incoming = incoming;
    this.#listener = listener;
    this.#outAt = 4 * (at + OUT);
    this.#inAt = 4 * (at + IN);
    this.#stretch = { memory: this.#bytes, at: 0, bytes: 0 };
  }

  /** A new connection: nothing has been said on it, or by the caller its opening and nothing else. */
  begin(hasSaidOpening = false): void {
    // Whoever asked on the one before waits still, and may not ask again before it hears something.
    const asks = this.#get(ASKS) === 1 || wordsBetween(this.#outgoing.stable, this.#get(ASKED)) > 0;
    this.#words.fill(0, this.#at, this.#at + OUT);
    this.#set(ASKS, asks ? 1 : 0);
    // An acknowledgement sent before may not have arrived: the first segment repeats it, and does not wait for words.
    this.#set(SAID, (this.#incoming.settled - 1) | 0);
    this.#set(OWED, this.#incoming.settled);
    this.#set(ASKED, this.#outgoing.stable);
    if (this.#listener !== null || hasSaidOpening) return;
    this.#words.set(openingOf(this.#outgoing, this.#incoming), this.#at + OUT);
    this.#set(OUT_TO, 4 * callerOpeningWords);
  }

  /** Is there something that could not leave yet? */
  get isBlocked(): boolean {
    return this.#get(OUT_FROM) !== this.#get(OUT_TO) || this.#get(OUT_REST) > 0;
  }

  /** Are there words here that found no place? They must be moved when there is one. */
  get hasUnplaced(): boolean {
    return this.#get(IN_TO) > 0;
  }

  /** Is the store of words without a place full, so that nothing more is received for now? */
  get isFull(): boolean {
    return this.#get(IN_TO) === 4 * stageWords;
  }

  /** How often bytes have left or come, in this thread. */
  get moves(): number {
    return this.#moves;
  }

  /** The next segment asks for an acknowledgement of all there is. False: that was asked before. */
  ask(): boolean {
    if (this.#get(ASKED) === this.#outgoing.born) return false;
    this.#set(ASKS, 1);
    return true;
  }

  /** Sends what can be sent. False as `move`. */
  say(wire: Wire): boolean {
    return this.#send(wire);
  }

  /** Sends and receives what can be. False: it is closed, or of no use. */
  move(wire: Wire): boolean {
    if (!this.#send(wire) || !this.#receive(wire)) return false;
    this.#incoming.settle?.();
    return this.#send(wire);
  }

  /**
   * What is staged, and all words there are now. Words that are born meanwhile wait for the next turn: otherwise a sender that keeps up with
   * a busy client would put each of its words into a segment of its own.
   */
  #send(wire: Wire): boolean {
    let isLast = false;
    for (;;) {
      const from = this.#get(OUT_FROM);
      const to = this.#get(OUT_TO);
      const rest = this.#get(OUT_REST);
      if (from === to && rest === 0) {
        if (isLast || !this.#stage()) return true;
        isLast = this.#get(OUT_TO) < 4 * stageWords && this.#get(OUT_REST) < 4 * segmentWordsMax;
        continue;
      }
      const went =
        from < to ? wire.send(this.#bytes, this.#outAt + from, to - from, rest > 0) : this.#sendRest(wire, rest);
      if (went < 0) return went === wouldBlock;
      this.#moves++;
      if (from < to) this.#set(OUT_FROM, from + went);
      else this.#set(OUT_REST, rest - went);
    }
  }

  /** Bytes that leave from where the stream has them. */
  #sendRest(wire: Wire, rest: number): number {
    const stretch = this.#stretch;
    this.#outgoing.lasting!.find(this.#left(), stretch);
    const gone = -rest & 3;
    const bytes = Math.min(rest, stretch.bytes - gone);
    return wire.send(stretch.memory, stretch.at + gone, bytes, bytes < rest);
  }

  /** The position of the first word of which not all bytes have left; what is staged counts as gone. */
  #left(): number {
    return (this.#outgoing.sent - ((this.#get(OUT_REST) + 3) >> 2)) | 0;
  }

  /** The next segment. False: there is nothing to say. */
  #stage(): boolean {
    if (this.#listener !== null && this.#get(HAS_HEARD_OPENING) === 0) return false;
    const { settled } = this.#incoming;
    const at = this.#at + OUT;
    const { lasting } = this.#outgoing;
    const isMuch = lasting !== undefined && wordsBetween(this.#outgoing.sent, this.#outgoing.born) >= manyWords;
    const rest = isMuch ? lasting.count(segmentWordsMax) : 0;
    const count = isMuch ? 0 : this.#outgoing.send(this.#words, at + headWords, stagedWordsMax);
    const asks = this.#get(ASKS);
    if (rest + count === 0 && asks === 0 && !this.#mustAcknowledge(settled)) return false;
    this.#words[at] = settled;
    this.#words[at + 1] = asks === 0 ? rest + count : (rest + count) | askingBit;
    if (asks === 1) this.#asked();
    this.#set(SAID, settled);
    this.#set(OUT_FROM, 0);
    this.#set(OUT_TO, 4 * (headWords + count));
    this.#set(OUT_REST, 4 * rest);
    return true;
  }

  #mustAcknowledge(settled: number): boolean {
    const said = this.#get(SAID);
    const unsaid = wordsBetween(said, settled);
    return unsaid > (this.#incoming.unsaidWordsMax ?? 0) || (unsaid > 0 && wordsBetween(said, this.#get(OWED)) > 0);
  }

  #asked(): void {
    const { sent, born } = this.#outgoing;
    this.#set(ASKED, sent);
    this.#set(ASKS, sent === born ? 0 : 1);
  }

  #receive(wire: Wire): boolean {
    const arrived = this.#incoming.arrived;
    for (let times = 0; times < receivesMax; times++) {
      if (wordsBetween(arrived, this.#incoming.arrived) >= receivedWordsMax) return true;
      const have = this.#get(IN_TO);
      const placed = have === 0 ? this.#receivePlaced(wire) : nothingPlaced;
      if (placed !== nothingPlaced) {
        if (placed === closed) return false;
        if (placed === wouldBlock) return true;
        continue;
      }
      const room = 4 * stageWords - have;
      // What is here found no place yet, and nothing overtakes it.
      if (room === 0) return this.#understand();
      const came = wire.receive(this.#bytes, this.#inAt + have, room);
      if (came === closed) return false;
      if (came > 0) {
        this.#moves++;
        this.#set(IN_TO, have + came);
      }
      if (!this.#understand()) return false;
      if (came < room) return true;
    }
    return true;
  }

  /** Receives many words to where the stream wants them. `nothingPlaced`: they are few, or there is no room; `wouldBlock`: no more has come. */
  #receivePlaced(wire: Wire): number {
    const left = this.#get(LEFT);
    const part = this.#get(IN_PART);
    const incoming = this.#incoming;
    if ((part === 0 && left < manyWords) || incoming.place === undefined) return nothingPlaced;
    const stretch = this.#stretch;
    incoming.place(left, stretch);
    if (stretch.bytes === 0) return nothingPlaced;
    const room = Math.min(4 * left, stretch.bytes) - part;
    const came = wire.receive(stretch.memory, stretch.at + part, room);
    if (came < 0) return came;
    this.#moves++;
    const words = (part + came) >> 2;
    this.#set(IN_PART, (part + came) & 3);
    this.#set(LEFT, left - words);
    if (words > 0 && incoming.placed!(words) === refused) return closed;
    return came < room ? wouldBlock : came;
  }

  /** As much as can be of what has come. False: the bytes are not those of a peer of this job, or this life is not heard any more. */
  #understand(): boolean {
    const first = this.#at + IN;
    const end = first + (this.#get(IN_TO) >> 2);
    let at = first;
    if (this.#get(HAS_HEARD_OPENING) === 0) {
      at = this.#understandOpening(at, end);
      if (at < 0) return false;
      if (at === first) return true;
    }
    for (;;) {
      const left = this.#get(LEFT);
      if (left > 0) {
        if (at === end) break;
        const taken = this.#incoming.receive(this.#words, at, Math.min(left, end - at));
        if (taken === refused) return false;
        this.#set(LEFT, left - taken);
        at += taken;
        if (taken < left) break;
      } else if (end - at < headWords) break;
      else if (!this.#understandHead(this.#words[at]!, this.#words[at + 1]!)) return false;
      else at += headWords;
    }
    this.#drop(at - first);
    return true;
  }

  /** Where it ends; where it began: it is not all here, or words of another process have to be taken first; −1: it is none. */
  #understandOpening(at: number, end: number): number {
    const words = this.#words;
    const listener = this.#listener;
    if (listener !== null) {
      if (end - at < callerOpeningWords) return at;
      const opening = { stable: words[at]!, arrived: words[at + 1]!, origin: words[at + 2]! };
      if (!listener.opened(opening)) return -1;
      // Nothing was to be said before.
      words[this.#at + OUT] = listener.origin;
      this.#set(OUT_FROM, 0);
      this.#set(OUT_TO, 4 * listenerOpeningWords);
    } else {
      if (end - at < listenerOpeningWords) return at;
      const origin = words[at]!;
      if (origin === 0) return -1;
      if (origin !== this.#incoming.origin && !this.#incoming.beginAnew(origin)) return at;
    }
    this.#set(HAS_HEARD_OPENING, 1);
    return at + (listener === null ? listenerOpeningWords : callerOpeningWords);
  }

  /** Never more is acknowledged than was sent: a client would rely on words that the service does not have. */
  #understandHead(acknowledged: number, countAndAsking: number): boolean {
    const count = countAndAsking & ~askingBit;
    if (count < 0 || count > segmentWordsMax) return false;
    if (wordsBetween(acknowledged, this.#left()) < 0) return false;
    this.#outgoing.acknowledge(acknowledged);
    if (count !== countAndAsking) this.#set(OWED, (this.#incoming.arrived + count) | 0);
    this.#set(LEFT, count);
    return true;
  }

  /** This number of words has been understood. */
  #drop(count: number): void {
    if (count === 0) return;
    const have = this.#get(IN_TO);
    const rest = have - 4 * count;
    if (rest > 0) this.#bytes.copyWithin(this.#inAt, this.#inAt + 4 * count, this.#inAt + have);
    this.#set(IN_TO, rest);
  }

  #get(word: number): number {
    return this.#words[this.#at + word]!;
  }

  #set(word: number, value: number): void {
    this.#words[this.#at + word] = value;
  }
}

/** What a caller says first. */
function openingOf(outgoing: Outgoing, incoming: Incoming): Int32Array {
  return Int32Array.of(outgoing.stable, incoming.arrived, incoming.origin);
}

/** A caller's opening and words of its stream as one array, for streams with much to send at once. */
export function openingAndWords(outgoing: Outgoing, incoming: Incoming, stream: Int32Array): Int32Array {
  const segments = Math.ceil(stream.length / segmentWordsMax);
  const all = new Int32Array(callerOpeningWords + segments * headWords + stream.length);
  all.set(openingOf(outgoing, incoming));
  let to = callerOpeningWords;
  for (let from = 0; from < stream.length; from += segmentWordsMax) {
    const part = stream.subarray(from, from + segmentWordsMax);
    all[to] = incoming.settled;
    all[to + 1] = part.length;
    all.set(part, to + headWords);
    to += headWords + part.length;
  }
  return all;
}

/** What follows when a service wants the stream from a position on: can the client give it? */
export function canResume({ begin, born }: Pick<Outgoing, "begin" | "born">, wanted: number): boolean {
  return wordsBetween(begin, wanted) >= 0 && wordsBetween(wanted, born) >= 0;
}
