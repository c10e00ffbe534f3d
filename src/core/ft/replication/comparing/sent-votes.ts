/** What this process says of the messages that it sends: votes, told to the replicas of their receivers (message-comparison.ts). */
import type { Pointer } from "../../../base/brand.ts";
import { lives, saves } from "../../../base/saved-classes.ts";
import type { Memory } from "../../../request/memory.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { Acknowledgements } from "../acknowledgements.ts";
import type { KeptSend } from "../sending/kept-send.ts";
import { bytesHash, envelopeHash, type HashedBytes } from "./message-hash.ts";

/** The first word of packets: the kind in the low bits (below 11: others between ranks), the hash of an envelope. Then number and hash of the bytes. */
const VotePacket = {
  VOTE: 11,
  /** Of a message that the source of this clone has sent: a copy is no second witness. */
  ABSTENTION: 12,
  /** Of a communicator: its context, and bits. */
  REVOCATION: 13,
} as const;
const kindMask = 0xf;
export const envelopeShift = 4;

export const isVote = (first: number): boolean =>
  (first & kindMask) === VotePacket.VOTE || (first & kindMask) === VotePacket.ABSTENTION;

export const isRevocation = (first: number): boolean => (first & kindMask) === VotePacket.REVOCATION;

export const isAbstention = (first: number): boolean => (first & kindMask) === VotePacket.ABSTENTION;

const vectorBytesMin = 64;

/** Bytes of a process's memory, hashed where they lie. */
export class HashedMemory {
  static readonly unsaved = { view: null };
  private readonly memory: Memory;
  /** Of all of the memory, which is never replaced. */
  private view: HashedBytes | null = null;

  constructor(memory: Memory) {
    this.memory = memory;
  }

  hash(pointer: Pointer, bytes: number): number {
    if (bytes === 0) return 0;
    if (pointer < 0) return this.hashLent(pointer, bytes);
    // A call of WebAssembly takes as long as the loop here does for a few words.
    if (bytes >= vectorBytesMin && this.memory.hash !== undefined) return this.memory.hash(pointer, bytes);
    if (this.view === null) this.view = viewOf(this.memory.bytes);
    return bytesHash(this.view, pointer, bytes);
  }

  private hashLent(pointer: Pointer, bytes: number): number {
    return bytesHash(viewOf(this.memory.view(pointer, bytes)), 0, bytes);
  }
}

/** To the end of the buffer, wherever that is: the memory of simulated processes grows. */
const viewOf = ({ buffer, byteOffset }: Uint8Array): HashedBytes => ({
  view: new DataView(buffer, byteOffset),
  words: (byteOffset & 3) === 0 && (buffer.byteLength & 3) === 0 ? new Int32Array(buffer, byteOffset) : null,
});

class SentRevocation {
  readonly rank: number;
  readonly context: number;
  readonly bits: number;

  constructor(rank: number, context: number, bits: number) {
    this.rank = rank;
    this.context = context;
    this.bits = bits;
  }
}

export class SentVotes {
  protected readonly ports: ProtocolPorts;
  private readonly memory: HashedMemory;
  /** Communicators that ranks have been told of. */
  private readonly revocations: SentRevocation[] = [];
  /** Used again for each vote. */
  private readonly to = { rank: 0, replica: 0 };
  private readonly told = { a: 0, b: 0, c: 0, d: 0, e: 0 };
  /** What this process holds of the receivers' messages is told along, in the last two words: first number and count. Null: it is not. */
  acknowledgements: Acknowledgements | null = null;
  /** Bytes of messages that were told along with votes. */
  wholeBytes = 0;

  constructor(ports: ProtocolPorts) {
    this.ports = ports;
    this.memory = new HashedMemory(ports.memory);
  }

  /** A message has been posted, and nobody has read a byte of it. */
  cast(message: KeptSend): void {
    message.voteFirst = (envelopeHash(message.context, message.tag, message.bytes) << envelopeShift) | VotePacket.VOTE;
    message.voteBytes = this.memory.hash(message.pointer, message.bytes);
  }

  /** `replicas`: bits. */
  tell(message: KeptSend, replicas: number): void {
    const { to, told } = this;
    to.rank = message.dest;
    told.a = message.voteFirst;
    told.b = message.sequence;
    told.c = message.voteBytes;
    const run = this.acknowledgements === null ? null : this.acknowledgements.ride(message.dest, replicas);
    told.d = run === null ? 0 : run.first;
    told.e = run === null ? 0 : run.count;
    let hearers = 0;
    for (let replica = 0; replicas >>> replica !== 0; replica++) {
      if ((replicas & (1 << replica)) === 0) continue;
      to.replica = replica;
      this.ports.tell(to, told);
      hearers++;
    }
    if (run !== null) this.acknowledgements!.rode(message.dest, hearers);
  }

  /** A replica of its receiver wants more of what the vote on a message says: votes that are hashes say all at once. */
  answer(_message: KeptSend, _replica: number, _from: number): void {}

  /** A communicator is revoked: a rank is told. `bits`: as in the packet that would say so. */
  revoke(rank: number, context: number, bits: number, replicas: number): void {
    const revocation = new SentRevocation(rank, context, bits);
    this.revocations.push(revocation);
    this.tellRevocation(revocation, replicas);
  }

  /** To a replica that has come back, or from this process, which has. */
  tellRevocations(rank: number, replica: number): void {
    for (const revocation of this.revocations) {
      if (revocation.rank === rank) this.tellRevocation(revocation, 1 << replica);
    }
  }

  private tellRevocation({ rank, context, bits }: SentRevocation, replicas: number): void {
    for (let replica = 0; replicas >>> replica !== 0; replica++) {
      if ((replicas & (1 << replica)) === 0) continue;
      this.ports.tell({ rank, replica }, { a: VotePacket.REVOCATION, b: context, c: bits });
    }
  }

  /** This process is a clone now. */
  abstain(message: KeptSend): void {
    message.voteFirst = VotePacket.ABSTENTION;
  }
}

saves({ SentRevocation });
lives({ HashedMemory, SentVotes });
