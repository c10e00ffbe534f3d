/**
 * Messages whose envelope travels without them (RTS), once a receive has matched: the bytes, and the packets about them.
 *
 *   one copy    the receiver copies from the sender's memory (`Transport.fetch`, large ones with the sender's HELP) and
 *               answers RELEASE
 *   in pieces   the receiver answers CTS; the sender writes straight into the receiver's memory where it may (FINISH
 *               follows), or pushes FRAGMENTs as the channel takes them
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import type { Memory } from "../request/memory.ts";
import {
  R_BYTES,
  R_KIND,
  R_OFFSET,
  R_PEER,
  R_PEER_REQUEST,
  R_POINTER,
  R_STATE,
  R_STATUS_BYTES,
  RecordFlag,
  RecordKind,
  RecordState,
  type Records,
  recordWords,
} from "../request/records.ts";
import { BYTES, CONTEXT, PAYLOAD, PacketKind, SEQUENCE, TAG } from "../wire/packet.ts";
import type { Landing, Transport } from "../wire/transport.ts";
import type { Completion } from "./completion.ts";
import type { EnginePorts } from "./engine-ports.ts";
import type { Outbox } from "./outbox.ts";
import { RecordList } from "./record-list.ts";

export class Transfers implements Landing {
  readonly #records: Records;
  readonly #transport: Transport;
  readonly #memory: Memory;
  readonly #outbox: Outbox;
  readonly #completion: Completion;
  /** Sends that push pieces; receives whose copy a peer helps with. */
  readonly #streams: RecordList;
  readonly #fetches: RecordList;

  constructor({ records, transport, memory }: EnginePorts, outbox: Outbox, completion: Completion) {
    this.#records = records;
    this.#transport = transport;
    this.#memory = memory;
    this.#outbox = outbox;
    this.#completion = completion;
    this.#streams = new RecordList(records);
    this.#fetches = new RecordList(records);
  }

  // The receiving side

  /** A matched envelope whose payload is still with the sender: copy it, or say where and how it shall come. */
  answer(receive: RecordId, send: number, peerPointer: number): void {
    const words = this.#records.words;
    const at = receive * recordWords;
    const source = words[at + R_PEER]!;
    const wanted = words[at + R_STATUS_BYTES]!;
    const pointer = words[at + R_POINTER]! as Pointer;
    words[at + R_PEER_REQUEST] = send;
    if (wanted === 0) this.#finishOneCopy(receive);
    else if (peerPointer >= 0) {
      if (pointer < 0) this.#memory.fromPayload(pointer, 0, peerPointer, wanted);
      else if (!this.#transport.fetch(source, receive, send, pointer, peerPointer, wanted)) {
        this.#fetches.append(receive);
        return;
      }
      this.#finishOneCopy(receive);
    } else {
      const target = pointer >= 0 && this.#transport.shares(source) ? pointer : -1;
      this.#outbox.control(source, PacketKind.CTS, send, receive, target, wanted);
    }
  }

  #finishOneCopy(receive: RecordId): void {
    const records = this.#records;
    const send = records.get(receive, R_PEER_REQUEST);
    this.#outbox.control(records.get(receive, R_PEER), PacketKind.RELEASE, send, 0, 0, 0);
    this.#completion.finishReceive(receive);
  }

  takeFragment(packet: number): void {
    const packets = this.#transport.words;
    const receive = packets[packet + CONTEXT]! as RecordId;
    const offset = packets[packet + TAG]!;
    const bytes = packets[packet + BYTES]!;
    const words = this.#records.words;
    const at = receive * recordWords;
    const payload = packets[packet + PAYLOAD]!;
    // Without a payload the transport has written the bytes into the buffer itself.
    if (payload !== 0) this.#memory.fromPayload(words[at + R_POINTER]! as Pointer, offset, payload, bytes);
    words[at + R_OFFSET] = words[at + R_OFFSET]! + bytes;
    if (words[at + R_OFFSET] === words[at + R_STATUS_BYTES]) this.#completion.finishReceive(receive);
  }

  landingOf(receive: number, offset: number, bytes: number): number {
    const words = this.#records.words;
    const at = receive * recordWords;
    if (words[at + R_KIND] !== RecordKind.RECEIVE || words[at + R_STATE] !== RecordState.ACTIVE) return Number.NaN;
    if (offset < 0 || bytes < 0 || offset + bytes > words[at + R_STATUS_BYTES]!) return Number.NaN;
    return words[at + R_POINTER]!;
  }

  takeFinish(packet: number): void {
    this.#completion.finishReceive(this.#transport.words[packet + CONTEXT]! as RecordId);
  }

  // The sending side

  takeClearToSend(packet: number): void {
    const packets = this.#transport.words;
    const send = packets[packet + CONTEXT]! as RecordId;
    const receive = packets[packet + TAG]!;
    const target = packets[packet + BYTES]!;
    const wanted = packets[packet + SEQUENCE]!;
    const words = this.#records.words;
    const at = send * recordWords;
    words[at + R_PEER_REQUEST] = receive;
    words[at + R_BYTES] = wanted;
    if (target >= 0) {
      this.#transport.put(words[at + R_PEER]!, target, words[at + R_POINTER]!, wanted);
      this.#outbox.control(words[at + R_PEER]!, PacketKind.FINISH, receive, 0, 0, 0);
      this.#completion.finishSend(send);
    } else {
      this.#records.addFlag(send, RecordFlag.STREAMING);
      this.#streams.append(send);
      this.#pushPieces(send);
    }
  }

  takeHelp(packet: number): void {
    const send = this.#transport.words[packet + CONTEXT]! as RecordId;
    this.#transport.help(packet, this.#records.get(send, R_POINTER));
  }

  takeRelease(packet: number): void {
    this.#completion.finishSend(this.#transport.words[packet + CONTEXT]! as RecordId);
  }

  /** The envelope has left: asks the receiver to forget it, unless its answer is known to be on its way already. */
  cancel(send: RecordId): void {
    if (this.#records.hasFlag(send, RecordFlag.STREAMING)) return;
    this.#outbox.control(this.#records.get(send, R_PEER), PacketKind.CANCEL, send, 0, 0, 0);
  }

  takeCancelAnswer(packet: number): void {
    const words = this.#transport.words;
    if (words[packet + TAG] === 1) this.#completion.completeCancelled(words[packet + CONTEXT]! as RecordId);
  }

  // Progress

  get isPushing(): boolean {
    return this.#streams.count !== 0;
  }

  get isBusy(): boolean {
    return this.#streams.count !== 0 || this.#fetches.count !== 0;
  }

  /** True when anything moved. */
  progress(): boolean {
    const pushed = this.#pushStreams();
    return this.#finishFetches() || pushed;
  }

  #pushStreams(): boolean {
    let moved = false;
    for (let send = this.#streams.first; send >= 0; ) {
      const next = this.#streams.after(send);
      if (this.#pushPieces(send)) moved = true;
      send = next;
    }
    return moved;
  }

  /** Pushes pieces of one send until its channel is full or it is done. */
  #pushPieces(send: RecordId): boolean {
    const words = this.#records.words;
    const at = send * recordWords;
    const total = words[at + R_BYTES]!;
    let moved = false;
    while (words[at + R_OFFSET]! < total) {
      const offset = words[at + R_OFFSET]!;
      const took = this.#transport.push(
        words[at + R_PEER]!,
        words[at + R_PEER_REQUEST]!,
        words[at + R_POINTER]!,
        offset,
        total - offset,
      );
      if (took === 0) return moved;
      words[at + R_OFFSET] = offset + took;
      moved = true;
    }
    this.#streams.remove(send);
    this.#completion.finishSend(send);
    return true;
  }

  #finishFetches(): boolean {
    let moved = false;
    for (let receive = this.#fetches.first; receive >= 0; ) {
      const next = this.#fetches.after(receive);
      if (this.#transport.fetched(receive)) {
        this.#fetches.remove(receive);
        this.#finishOneCopy(receive);
        moved = true;
      }
      receive = next;
    }
    return moved;
  }

  /** That rank is dead: nothing is moved to or from it any more. Its requests stay active; the caller ends them. */
  peerFailed(rank: number): void {
    const isOfDead = (record: RecordId): boolean => this.#records.get(record, R_PEER) === rank;
    this.#streams.removeIf(isOfDead);
    this.#fetches.removeIf((receive) => {
      if (!isOfDead(receive)) return false;
      this.#transport.unfetch(receive);
      return true;
    });
  }
}
