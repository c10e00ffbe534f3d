/**
 * What the replicas of one rank say that they have sent to this process, all bytes of it (whole-votes.ts), until the message has been judged. They are held besides the
 * message itself: r − 1 times as much as is on its way.
 */
import { saves } from "../../../base/saved-classes.ts";
import { CONTEXT, EXTRA, KIND, replicaOf, SEQUENCE, SOURCE, TAG } from "../../../wire/packet.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import { askWord, bytesInWords, envelopeBytes, isLastOfWindow, isOpening, isPiece, wordBytes } from "./whole-votes.ts";

/** Of one replica on one message. */
class Testimony {
  readonly context: number;
  readonly tag: number;
  readonly bytes: number;
  /** It grows as pieces come: a process whose memory is wrong may announce more than it has. */
  private data = new Uint8Array(0);
  /** So many have come. */
  filled = 0;

  constructor(context: number, tag: number, bytes: number) {
    this.context = context;
    this.tag = tag;
    this.bytes = bytes;
  }

  get isWhole(): boolean {
    return this.filled >= this.bytes;
  }

  /** The next bytes. False: they are others than those that are lacking. */
  add(offset: number, piece: Uint8Array): boolean {
    const end = offset + piece.length;
    if (offset !== this.filled || end > this.bytes) return false;
    if (end > this.data.length) {
      const larger = new Uint8Array(Math.min(this.bytes, Math.max(end, 2 * this.data.length)));
      larger.set(this.data.subarray(0, this.filled));
      this.data = larger;
    }
    this.data.set(piece, offset);
    this.filled = end;
    return true;
  }

  get content(): Uint8Array {
    return this.data.subarray(0, this.filled);
  }

  hasEnvelope(context: number, tag: number, bytes: number): boolean {
    return this.context === context && this.tag === tag && this.bytes === bytes;
  }
}

export class Testimonies {
  /** By number of the message, then by replica. */
  private readonly byMessage = new Map<number, (Testimony | null)[]>();

  /** The next part of a vote; more is asked for when it is time. True: all of it is here now. */
  hear(ports: Pick<ProtocolPorts, "tell" | "toldBytes">, words: Int32Array, packet: number): boolean {
    const first = words[packet + CONTEXT]!;
    const sequence = words[packet + TAG]!;
    const replica = replicaOf(words[packet + KIND]!);
    const told = ports.toldBytes(packet);
    if (isOpening(first)) return this.open(sequence, replica, openingOf(words, packet, told)).isWhole;
    const testimony = this.find(sequence, replica);
    if (!isPiece(first) || testimony === null) return false;
    const bytes = told.length === 0 ? bytesOfWords(words, packet).subarray(0, bytesInWords(first)) : told;
    if (!testimony.add(words[packet + SEQUENCE]!, bytes)) return false;
    if (!testimony.isWhole && isLastOfWindow(first)) {
      const to = { rank: words[packet + SOURCE]!, replica };
      ports.tell(to, { a: askWord, b: sequence, c: testimony.filled });
    }
    return testimony.isWhole;
  }

  private open(sequence: number, replica: number, testimony: Testimony): Testimony {
    let all = this.byMessage.get(sequence);
    if (all === undefined) {
      all = [];
      this.byMessage.set(sequence, all);
    }
    while (all.length <= replica) all.push(null);
    all[replica] = testimony;
    return testimony;
  }

  find(sequence: number, replica: number): Testimony | null {
    return this.byMessage.get(sequence)?.[replica] ?? null;
  }

  /** The message has been judged. */
  close(sequence: number): void {
    this.byMessage.delete(sequence);
  }

  /** What that replica has said is not its own any more. */
  forget(replica: number): void {
    for (const all of this.byMessage.values()) {
      if (replica < all.length) all[replica] = null;
    }
  }
}

function openingOf(words: Int32Array, packet: number, told: Uint8Array): Testimony {
  if (told.length < envelopeBytes)
    return new Testimony(words[packet + SEQUENCE]!, words[packet + EXTRA]!, words[packet + EXTRA + 1]!);
  const view = new DataView(told.buffer, told.byteOffset);
  const testimony = new Testimony(view.getInt32(0, true), view.getInt32(4, true), view.getInt32(8, true));
  testimony.add(0, told.subarray(envelopeBytes));
  return testimony;
}

/** Those of a piece without payload. */
function bytesOfWords(words: Int32Array, packet: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(wordBytes));
  view.setInt32(0, words[packet + EXTRA]!, true);
  view.setInt32(4, words[packet + EXTRA + 1]!, true);
  return new Uint8Array(view.buffer);
}

saves({ Testimony, Testimonies });
