/**
 * Random programs of several C ranks, as the calls that each of them makes: messages of all sizes, kinds and modes whose receives match,
 * or nearly; receives that are posted before, with wildcards, with too little room; collectives, new communicators, probes; and calls
 * that must be refused. Sends and receives come in an order in which all of them can be made, as a rule.
 */
import type { SeededRandom } from "../../../core/base/seeded-random.ts";
import { randomCollective } from "./random-collectives.ts";

/** A number, or the word at that address of the rank's memory when the call is made. */
export type Argument = number | { readonly at: number };

export interface Step {
  readonly name: string;
  readonly args: readonly Argument[];
}

export const textOf = ({ name, args }: Step): string =>
  `${name}(${args.map((arg) => (typeof arg === "number" ? arg : `*${arg.at}`)).join(", ")})`;

const COMM_WORLD = 0x101;
const COMM_SELF = 0x102;
const COMM_NULL = 0x100;
/** Of those that programs make, and may have freed. */
const firstHandle = 0x1000000;
const ERRORS_RETURN = 0x143;
const ANY_SOURCE = -1;
const ANY_TAG = -2;
const PROC_NULL = -3;
const MPI_SUM = 0x21;
const MPI_INT = 0x209;
/** Handles, and bytes of one item: MPI_BYTE, SHORT, INT, DOUBLE, LONG_DOUBLE, DOUBLE_INT (which has a gap in an array). */
const types: readonly (readonly [number, number])[] = [
  [0x247, 1],
  [0x247, 1],
  [0x208, 2],
  [0x209, 4],
  [0x214, 8],
  [0x214, 8],
  [0x220, 16],
  [0x229, 12],
];
/** Around every limit: of words, of what crosses at once, of slots (96), of eager messages (1024). */
const counts = [
  0, 1, 1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 31, 33, 64, 65, 96, 97, 127, 128, 130, 255, 1024, 1025,
];
const tags = 3;

/** Memory of a rank: handles and requests, statuses, buffers. */
const handlesAt = 1024;
const requestsAt = 1536;
const requestsMax = 24;
const statusesAt = 2048;
/** One for each request, and then words that calls answer in. */
const allStatusesAt = 2560;
const answersAt = 3584;
export const buffersAt = 4096;
/** Nothing of a rank lies beyond. */
export const bytesUsed = 1 << 17;
const bufferBytesMax = 24_576;
export const programPages = 40;
const memoryBytes = programPages * 65536;

/** Memory of a rank that must be the same in every world, handles of requests too. */
export const comparable = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytesUsed);

interface RandomStepsOptions {
  readonly random: SeededRandom;
  readonly ranks: number;
  readonly steps: number;
  /** MPI_Sendrecv too: an engine that waits in it takes all that has come, and senders find room sooner than with a plane. */
  readonly exchanges: boolean;
  /**
   * Many requests, open over other calls and ended in all ways: a plane that waits for them leaves messages in the ring as well, and a
   * sender that waits for its receive may hear of it later.
   */
  readonly requests?: boolean;
  /** Of a hundred steps: blocking collectives of all ranks, one after the other. 100: and new communicators, and nothing else. */
  readonly collectives?: number;
  /** May ranks disagree about a collective? */
  readonly mayDiffer?: boolean;
  /** Is the result the same in whatever order ranks have their turns? Then no receive takes a message of any source, and nobody probes. */
  readonly isDeterminate?: boolean;
}

/** A queue of calls for each rank. */
export function randomSteps(options: RandomStepsOptions): Step[][] {
  return new Generator(options).all();
}

class Generator {
  readonly #random: SeededRandom;
  readonly #ranks: number;
  readonly #steps: number;
  readonly #exchanges: boolean;
  readonly #hasRequests: boolean;
  readonly #collectives: number;
  readonly #mayDiffer: boolean;
  readonly #isDeterminate: boolean;
  readonly #queues: Step[][];
  /** Receives that a rank will make soon, in whatever order. */
  readonly #soon: Step[][];
  readonly #requests: number[][];
  /** Addresses of handles, and whether ranks of the communicator are those of the job, backwards. */
  readonly #communicators: { readonly at: number; readonly isReversed: boolean }[] = [];
  #handles = 0;
  #buffer = buffersAt;

  constructor({ random, ranks, steps, exchanges, ...more }: RandomStepsOptions) {
    const { collectives = 0, mayDiffer = false, isDeterminate = false, requests = false } = more;
    this.#hasRequests = requests;
    this.#collectives = collectives;
    this.#mayDiffer = mayDiffer;
    this.#isDeterminate = isDeterminate;
    this.#random = random;
    this.#ranks = ranks;
    this.#steps = steps;
    this.#exchanges = exchanges;
    this.#queues = Array.from({ length: ranks }, () => []);
    this.#soon = Array.from({ length: ranks }, () => []);
    this.#requests = Array.from({ length: ranks }, () => []);
  }

  all(): Step[][] {
    for (let step = 0; step < this.#steps; step++) this.#next();
    for (let rank = 0; rank < this.#ranks; rank++) this.#flush(rank);
    return this.#queues;
  }

  #below(bound: number): number {
    return this.#random.bits() % bound;
  }

  #of<T>(values: readonly T[]): T {
    return values[this.#below(values.length)]!;
  }

  #next(): void {
    if (this.#collectives > 0 && this.#below(100) < this.#collectives) {
      this.#meetings();
      return;
    }
    const dice = this.#below(100);
    if (dice < (this.#exchanges ? 58 : 70)) this.#message();
    else if (dice < 70) this.#exchange();
    else if (dice < 78) this.#burst();
    else if (dice < 90 && this.#isDeterminate) this.#message();
    else if (dice < (this.#hasRequests ? 79 : 84)) this.#mistake(this.#below(this.#ranks));
    else if (dice < 90) this.#probe(this.#below(this.#ranks));
    else if (dice < 96) this.#together();
    else this.#flush(this.#below(this.#ranks));
  }

  #bufferOf(bytes: number): number {
    if (this.#buffer + bufferBytesMax > bytesUsed) this.#buffer = buffersAt;
    const at = this.#buffer + this.#below(9);
    this.#buffer += bytes + 64;
    return at;
  }

  /** A communicator, and the rank in it of a rank of the job. */
  #communicator(): { readonly comm: Argument; readonly rankOf: (world: number) => number } {
    const made = this.#communicators;
    if (made.length === 0 || this.#below(3) === 0) return { comm: COMM_WORLD, rankOf: (world) => world };
    const { at, isReversed } = this.#of(made);
    return { comm: { at }, rankOf: (world) => (isReversed ? this.#ranks - 1 - world : world) };
  }

  #sourceOf(sender: number): number {
    return this.#of([sender, sender, sender, this.#isDeterminate ? sender : ANY_SOURCE]);
  }

  #message(): void {
    const [from, to] = [this.#below(this.#ranks), this.#below(this.#ranks)];
    const { comm, rankOf } = this.#communicator();
    const [type, size] = this.#of(types);
    const count = this.#of(counts);
    const tag = this.#below(tags);
    // A message to oneself must not wait for its receive.
    const isSmall = size * count <= 512;
    const modes =
      from === to || !isSmall ? ["MPI_Send"] : ["MPI_Send", "MPI_Send", "MPI_Send", "MPI_Rsend", "MPI_Bsend"];
    const send: Argument[] = [this.#bufferOf(size * count * 2), count, type, rankOf(to), tag, comm];
    const room = Math.max(0, count + this.#of([0, 0, 0, 1, 5, 100, -1]));
    const source = this.#sourceOf(rankOf(from));
    const wantedTag = this.#of([tag, tag, tag, ANY_TAG]);
    const receive: Argument[] = [this.#bufferOf(size * room * 2), room, type, source, wantedTag, comm];
    const isPosted = this.#below(this.#hasRequests ? 2 : 5) === 0 || (from === to && !isSmall);
    if (isPosted) {
      if (!this.#hasRequests || this.#below(4) === 0) this.#flush(to);
      this.#start(to, "MPI_Irecv", receive);
    }
    if (this.#below(this.#hasRequests ? 2 : 6) === 0 || (from === to && !isSmall))
      this.#start(
        from,
        this.#hasRequests && !this.#isDeterminate ? "MPI_Isend" : this.#of(["MPI_Isend", "MPI_Issend"]),
        send,
      );
    else this.#queues[from]!.push({ name: this.#of(modes), args: send });
    if (!isPosted) this.#soon[to]!.push({ name: "MPI_Recv", args: [...receive, this.#status()] });
    if (this.#hasRequests && this.#below(12) === 0) this.#nobody(to, type);
    if (this.#hasRequests && isPosted ? this.#below(4) === 0 : !isSmall || this.#below(3) > 0) this.#flush(to);
  }

  #nobody(rank: number, type: number): void {
    const args = [this.#bufferOf(16), 1, type, PROC_NULL, this.#below(tags), COMM_WORLD];
    this.#start(rank, this.#of(["MPI_Isend", "MPI_Irecv"]), args);
  }

  /** Two ranks exchange messages, or one sends to the next and so on; now and then with nobody, with too little room, or with any. */
  #exchange(): void {
    const [one, other] = [this.#below(this.#ranks), this.#below(this.#ranks)];
    this.#flush(one);
    this.#flush(other);
    const { comm, rankOf } = this.#communicator();
    const [type, size] = this.#of(types);
    const count = this.#of(counts);
    const tag = this.#below(tags);
    // One that is sent to oneself, or is large, must find its receive: both are in the call.
    const half = (peer: number): Argument[] => {
      const room = Math.max(0, count + this.#of([0, 0, 0, 1, 5, -1]));
      const source = this.#sourceOf(rankOf(peer));
      const wanted = this.#of([tag, tag, tag, ANY_TAG]);
      const out = [this.#bufferOf(size * count * 2), count, type, rankOf(peer), tag];
      const into = [this.#bufferOf(size * room * 2), room, type, source, wanted];
      return [...out, ...into, comm, this.#status()];
    };
    const name = "MPI_Sendrecv";
    if (one !== other && this.#below(4) === 0) {
      // Nobody to receive from, or to send to: the other half is a call of its own.
      const [send, receive] = [half(one), half(other)];
      receive[3] = PROC_NULL;
      this.#queues[one]!.push({ name, args: receive });
      send[8] = PROC_NULL;
      this.#queues[other]!.push({ name, args: send });
      return;
    }
    this.#queues[one]!.push({ name, args: half(other) });
    if (one !== other) this.#queues[other]!.push({ name, args: half(one) });
  }

  /** More messages than a ring has slots, perhaps. */
  #burst(): void {
    const [from, to] = [this.#below(this.#ranks), this.#below(this.#ranks)];
    if (from === to) return;
    const many = 2 + this.#below(70);
    const isStarted = this.#below(2) === 0;
    const count = this.#of([2, 2, 20]);
    for (let i = 0; i < many; i++) {
      const send = [this.#bufferOf(8 * count), count, 0x214, to, 1, COMM_WORLD];
      if (isStarted && this.#below(3) === 0) this.#start(from, "MPI_Isend", send);
      else this.#queues[from]!.push({ name: "MPI_Send", args: send });
      const receive = [this.#bufferOf(8 * count), count, 0x214, from, 1, COMM_WORLD, this.#status()];
      this.#soon[to]!.push({ name: "MPI_Recv", args: receive });
    }
    // A message of another tag is awaited first: those of the burst are unexpected then.
    if (this.#below(2) === 0) {
      this.#queues[from]!.push({ name: "MPI_Send", args: [this.#bufferOf(8), 1, 0x214, to, 2, COMM_WORLD] });
      const receive = [this.#bufferOf(8), 1, 0x214, from, 2, COMM_WORLD, this.#status()];
      this.#soon[to]!.unshift({ name: "MPI_Recv", args: receive });
    }
    this.#flush(to);
  }

  #start(rank: number, name: string, args: readonly Argument[]): void {
    const requests = this.#requests[rank]!;
    const request = requestsAt + 4 * requests.length;
    requests.push(request);
    this.#queues[rank]!.push({ name, args: [...args, request] });
    if (requests.length >= requestsMax) this.#flush(rank);
  }

  /** The rank receives what it has to, in any order, and waits for what it has started. */
  #flush(rank: number): void {
    const soon = this.#soon[rank]!.splice(0);
    if (this.#below(4) === 0) soon.reverse();
    this.#queues[rank]!.push(...soon);
    const requests = this.#requests[rank]!.splice(0);
    const queue = this.#queues[rank]!;
    if (this.#hasRequests && requests.length > 0) this.#endSome(rank, requests);
    if (this.#hasRequests && requests.length > 1 && this.#below(2) === 0) {
      const statuses = this.#of([0, allStatusesAt]);
      queue.push({ name: "MPI_Waitall", args: [requests.length, requestsAt, statuses] });
      return;
    }
    if (this.#hasRequests && this.#below(3) === 0) requests.reverse();
    for (const request of requests) queue.push({ name: "MPI_Wait", args: [request, this.#status()] });
  }

  /** A call that ends at most one of them, or cancels it; before a choice the process looks, so that it is the same one in every world. */
  #endSome(rank: number, requests: readonly number[]): void {
    if (this.#isDeterminate || this.#below(5) > 0) return;
    const queue = this.#queues[rank]!;
    const look: Step = { name: "MPI_Iprobe", args: [ANY_SOURCE, ANY_TAG, COMM_WORLD, answersAt, 0] };
    const list = [requests.length, requestsAt];
    switch (this.#below(7)) {
      case 0:
        queue.push(look, { name: "MPI_Cancel", args: [this.#of(requests)] });
        return;
      case 1:
        queue.push(look, { name: "MPI_Waitany", args: [...list, answersAt + 4, this.#status()] });
        return;
      case 2:
        queue.push(look, { name: "MPI_Testany", args: [...list, answersAt + 4, answersAt + 8, this.#status()] });
        return;
      case 3:
        queue.push({ name: "MPI_Request_free", args: [this.#of(requests)] });
        return;
      case 4:
        queue.push({ name: "MPI_Request_get_status", args: [this.#of(requests), answersAt + 12, this.#status()] });
        return;
      default:
        queue.push({ name: "MPI_Test", args: [this.#of(requests), answersAt + 16, this.#status()] });
    }
  }

  #status(): number {
    return this.#below(3) === 0 ? 0 : statusesAt + 32 * this.#below(8);
  }

  /** Every rank does it, after all that it had to receive. */
  #together(): void {
    for (let rank = 0; rank < this.#ranks; rank++) this.#flush(rank);
    const { comm } = this.#communicator();
    switch (this.#below(6)) {
      case 0:
        this.#all(() => ({ name: "MPI_Barrier", args: [comm] }));
        return;
      case 1:
      case 2:
        this.#all(() => ({
          name: "MPI_Allreduce",
          args: [this.#bufferOf(16) & ~3, this.#bufferOf(16) & ~3, 2, MPI_INT, MPI_SUM, comm],
        }));
        return;
      case 3:
        this.#free();
        return;
      default:
        this.#make();
    }
  }

  /** Some collectives in a row, on one communicator or several; messages that are not received yet are on their way meanwhile. */
  #meetings(): void {
    if (this.#collectives === 100 && this.#below(6) === 0) {
      if (this.#below(3) === 0) this.#free();
      else this.#make();
    }
    for (let rank = 0; rank < this.#ranks; rank++) if (this.#below(4) > 0) this.#flush(rank);
    for (let left = 1 + this.#below(6); left > 0; left--) {
      const calls = randomCollective({
        random: this.#random,
        ranks: this.#ranks,
        ...this.#communicator(),
        mayDiffer: this.#mayDiffer,
        bufferOf: (bytes) => this.#bufferOf(bytes),
      });
      this.#all((rank) => calls[rank]!);
    }
  }

  #make(): void {
    const at = handlesAt + 4 * this.#handles++;
    const isReversed = this.#below(2) === 0;
    if (isReversed) this.#all((rank) => ({ name: "MPI_Comm_split", args: [COMM_WORLD, 0, -rank, at] }));
    else this.#all(() => ({ name: "MPI_Comm_dup", args: [COMM_WORLD, at] }));
    this.#all(() => ({ name: "MPI_Comm_set_errhandler", args: [{ at }, ERRORS_RETURN] }));
    this.#communicators.push({ at, isReversed });
  }

  #free(): void {
    const freed = this.#communicators.shift();
    if (freed === undefined) return;
    this.#all(() => ({ name: "MPI_Comm_free", args: [freed.at] }));
  }

  #all(step: (rank: number) => Step): void {
    for (let rank = 0; rank < this.#ranks; rank++) this.#queues[rank]!.push(step(rank));
  }

  #probe(rank: number): void {
    const source = this.#of([ANY_SOURCE, this.#below(this.#ranks)]);
    const flag = statusesAt + 256;
    this.#queues[rank]!.push({
      name: "MPI_Iprobe",
      args: [source, this.#of([ANY_TAG, this.#below(tags)]), COMM_WORLD, flag, this.#status()],
    });
  }

  /** One argument that is wrong, or unusual. Receives from nobody only: others would wait for ever. */
  #mistake(rank: number): void {
    const buffer = this.#bufferOf(64);
    const usual: Argument[] = [buffer, 4, MPI_INT, this.#below(this.#ranks), 0, COMM_WORLD];
    const [place, values] = this.#of<readonly [number, readonly number[]]>([
      [0, [0, 8, memoryBytes - 4, memoryBytes, -4]],
      [1, [-1, 1 << 30, 0x7fffffff]],
      [2, [0x200, 0x1ff, 0x300, 0, 0x209000, -1]],
      [3, [-1, -2, PROC_NULL, this.#ranks, 1 << 20]],
      [4, [-1, -2, 0x40000000, -5]],
      [5, [COMM_NULL, COMM_SELF + 1, 0, -1, firstHandle, firstHandle + 1, firstHandle + 3]],
    ]);
    usual[place] = this.#of(values);
    if (this.#below(2) === 0) {
      // A buffer of no bytes may be anywhere, and so the message leaves: it is one more than is received.
      this.#queues[rank]!.push({ name: "MPI_Send", args: usual });
      return;
    }
    if (place === 3) usual[3] = this.#of([-5, PROC_NULL, this.#ranks]);
    if (place === 5) usual[5] = this.#of([COMM_NULL, COMM_SELF + 1, 0, -1]);
    if (place === 4) usual[4] = this.#of([-1, -5, 0x40000000]);
    const status = place === 0 ? 0 : this.#of([0, 3, 8, memoryBytes - 16, statusesAt]);
    this.#queues[rank]!.push({ name: "MPI_Recv", args: [...usual, status] });
  }
}
