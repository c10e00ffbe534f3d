/**
 * Payloads of messages that came before their receive, and the door that bounds them.
 *
 * Above `bytesMax` the sender of the next payload is told to send envelopes only (EAGER_CLOSE), and when half of the
 * memory is free again, EAGER_OPEN: memory is bounded in bytes whatever senders do, and what is on its way when the door
 * closes is bounded by the channels.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { lives } from "../base/saved-classes.ts";
import type { Memory } from "../request/memory.ts";
import { R_BYTES, R_POINTER, type Records, recordWords } from "../request/records.ts";
import { PacketKind } from "../wire/packet.ts";
import type { ControlPackets } from "./control-packets.ts";
import type { EnginePorts } from "./engine-ports.ts";
import type { Peers } from "./peers.ts";

export class UnexpectedStore {
  private readonly records: Records;
  private readonly memory: Memory;
  private readonly packets: ControlPackets;
  private readonly bytesMax: number;
  private readonly peers: Peers;
  /** Stored now. */
  bytes = 0;

  constructor({ records, memory, peers }: EnginePorts, packets: ControlPackets, bytesMax: number) {
    this.records = records;
    this.memory = memory;
    this.packets = packets;
    this.bytesMax = bytesMax;
    this.peers = peers;
  }

  /** Keeps the payload of an envelope's packet. */
  keep(envelope: RecordId, payload: number): void {
    const records = this.records;
    const bytes = records.get(envelope, R_BYTES);
    const stored = this.memory.allocate(bytes);
    this.memory.fromPayload(stored, 0, payload, bytes);
    records.put(envelope, R_POINTER, stored);
    this.bytes += bytes;
    if (this.bytes > this.bytesMax) this.close(this.peers.ofRecord(records.words, envelope * recordWords));
  }

  /** Gives a stored payload to a buffer and ends the envelope. */
  deliver(envelope: RecordId, to: Pointer, wanted: number): void {
    const records = this.records;
    if (wanted !== 0) this.memory.copy(to, 0, records.get(envelope, R_POINTER) as Pointer, 0, wanted);
    this.forget(envelope);
    records.give(envelope);
  }

  /** The payload of an envelope that stays. */
  forget(envelope: RecordId): void {
    const bytes = this.records.get(envelope, R_BYTES);
    if (bytes === 0) return;
    this.memory.free(this.records.get(envelope, R_POINTER) as Pointer);
    this.bytes -= bytes;
    if (this.peers.anyToldShut && this.bytes <= this.bytesMax / 2) this.openAll();
  }

  /** Its next life has not heard that we have no room. */
  peerLost(peer: number): void {
    this.peers.setToldShut(peer, false);
  }

  private close(peer: number): void {
    if (this.peers.isToldShut(peer)) return;
    this.peers.setToldShut(peer, true);
    this.packets.control(peer, PacketKind.EAGER_CLOSE);
  }

  private openAll(): void {
    for (const peer of this.peers.allToldShut()) {
      this.peers.setToldShut(peer, false);
      this.packets.control(peer, PacketKind.EAGER_OPEN);
    }
  }
}

lives({ UnexpectedStore });
