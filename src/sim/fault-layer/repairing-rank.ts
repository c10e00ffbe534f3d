/**
 * A random program that repairs itself, under the fault-simulation layer: in each round the members of its communicator do something together, agree whether
 * it went well at all of them, and shrink when it did not. What they do follows from the seed and the round, who dies and where from the
 * seed, the round and the rank.
 */
import type { Pointer, RecordId, WorldRank } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { equalBlocks } from "../../core/coll/engine/rounds.ts";
import { Group } from "../../core/comm/group.ts";
import { Agree } from "../../core/process/agree.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { CreateGroup, Duplicate, Split } from "../../core/process/new-communicators.ts";
import { SendMode } from "../../core/request/records.ts";
import type { Ledger } from "../ledger.ts";
import { mixed } from "../script/mixed-number.ts";
import { exactReductions } from "../script/reductions.ts";
import type { Steps } from "../sim-process.ts";
import type { LayeredRank } from "./layered-rank.ts";

const { PROC_FAILED, PROC_FAILED_PENDING, REVOKED } = ErrorClass;
const nowhere = 0 as Pointer;

interface RepairingPlan {
  readonly seed: number;
  readonly rounds: number;
  /** Of so many places where a rank could die, it dies at one; 0: nobody dies. */
  readonly placesPerDeath: number;
  /** Never dies. */
  readonly survivor: number;
  readonly ledger: Ledger;
  isDead(rank: number): boolean;
}

/** Thrown away with the program: the process is dead, and its program does nothing any more. */
class Died extends Error {}

export class RepairingLayeredRank {
  readonly #rank: LayeredRank;
  readonly #plan: RepairingPlan;
  #comm: Communicator;
  #round = 0;
  #places = 0;

  constructor(rank: LayeredRank, plan: RepairingPlan) {
    this.#rank = rank;
    this.#plan = plan;
    this.#comm = rank.world;
  }

  *run(): Steps {
    try {
      yield* this.#rounds();
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      yield* this.#rank.die();
    }
  }

  *#rounds(): Steps {
    const { seed, rounds } = this.#plan;
    const { process, rank, operations } = this.#rank;
    const actions = [
      () => this.#sum(),
      () => this.#broadcast(),
      () => this.#ring(),
      () => this.#fromAnybody(),
      () => this.#several(),
      () => this.#split(),
      () => this.#blocks(),
      () => this.#agreeTwice(),
      () => this.#group(),
      () => this.#meetings(),
    ];
    for (; this.#round < rounds; this.#round++) {
      yield process.compute(1 + (mixed(seed, this.#round, rank) % this.#drawn(1, [10, 3_000, 60_000])));
      this.#mayDie();
      const error = yield* actions[mixed(seed, this.#round) % actions.length]!();
      this.#judge(error);
      this.#mayDie();
      if (error !== 0 && this.#drawn(2, [true, false])) operations.revoke(this.#comm);
      this.#mayDie();
      if (!(yield* this.#agree(error === 0))) yield* this.#shrink();
    }
    yield* this.#rank.finalize();
  }

  /** The same choice for all ranks in this round. */
  #drawn<T>(salt: number, list: readonly T[]): T {
    return list[mixed(this.#plan.seed, this.#round, 1_000 + salt) % list.length]!;
  }

  /** A place between two calls: `Sim_FT_decide_kill`. */
  #mayDie(): void {
    const { seed, placesPerDeath, survivor } = this.#plan;
    const { rank } = this.#rank;
    if (placesPerDeath === 0 || rank === survivor) return;
    if (mixed(seed, rank, this.#places++, 77) % placesPerDeath === 0) throw new Died();
  }

  /** An error needs a dead member, or a revocation, which follows an error. */
  #judge(error: number): void {
    const members = this.#comm.group.worldRanks();
    const isKnown = error === PROC_FAILED || error === PROC_FAILED_PENDING || error === REVOKED;
    if (error === 0 || (isKnown && members.some((member) => this.#plan.isDead(member)))) return;
    this.#plan.ledger.wrong("errors have a reason", `${this.#place}: error ${error}, members ${members}`);
  }

  get #place(): string {
    return `round ${this.#round}, rank ${this.#rank.rank}, context ${this.#comm.context}`;
  }

  #check(got: readonly number[], wanted: readonly number[], what: string): void {
    if (got.length === wanted.length && got.every((word, i) => word === wanted[i])) return;
    this.#plan.ledger.wrong("what completed is right", `${what}, ${this.#place}: ${got} instead of ${wanted}`);
  }

  #word(rank: number, i = 0): number {
    return mixed(this.#plan.seed, this.#round, rank, i) | 0;
  }

  *#agree(isWell: boolean): Steps<boolean> {
    const { ledger } = this.#plan;
    const { flags, error } = yield* this.#rank.agree(this.#comm, isWell ? 1 : 0);
    ledger.counts.agreements++;
    ledger.same(`agreement on ${this.#comm.context}, round ${this.#round}`, this.#rank.rank, `${flags} ${error}`);
    return flags === 1 && error === 0;
  }

  *#shrink(): Steps {
    const { ledger } = this.#plan;
    const old = this.#comm;
    const made = yield* this.#rank.shrink(old);
    ledger.counts.shrinks++;
    const group = made?.group.worldRanks() ?? [];
    ledger.same(`shrinking ${old.context}, round ${this.#round}`, this.#rank.rank, `${made?.context}: ${group}`);
    if (old !== this.#rank.world) this.#rank.operations.freeCommunicator(old);
    this.#comm = made!;
  }

  *#sum(): Steps<number> {
    const { rank } = this.#rank;
    const count = this.#drawn(4, [1, 40, 3_000]);
    const { error, words } = yield* this.#rank.sum(
      this.#comm,
      Array.from({ length: count }, (_, i) => this.#word(rank, i)),
    );
    this.#plan.ledger.counts.collectives++;
    const members = this.#comm.group.worldRanks();
    const sums = words.map((_, i) => members.reduce((sum, member) => (sum + this.#word(member, i)) | 0, 0));
    if (error === 0) this.#check(words, sums, "allreduce");
    return error;
  }

  *#broadcast(): Steps<number> {
    const root = this.#drawn(7, [0, this.#comm.size >> 1, this.#comm.size - 1]);
    const sender = this.#comm.group.worldRanks()[root]!;
    const count = this.#drawn(4, [1, 40, 3_000]);
    const wanted = Array.from({ length: count }, (_, i) => this.#word(sender, i));
    const given = this.#rank.rank === sender ? wanted : wanted.map(() => 0);
    const { error, words } = yield* this.#rank.broadcast(this.#comm, root, given);
    this.#plan.ledger.counts.collectives++;
    if (error === 0) this.#check(words, wanted, "broadcast");
    return error;
  }

  *#ring(): Steps<number> {
    const { operations, rank, process } = this.#rank;
    const { rank: place, size } = this.#comm;
    const count = this.#drawn(4, [1, 100, 4_000]);
    const mode = this.#drawn(5, [SendMode.STANDARD, SendMode.SYNCHRONOUS]);
    const at = this.#rank.put(Array.from({ length: count }, (_, i) => this.#word(rank, i)));
    const into = this.#rank.put(new Array<number>(count).fill(0));
    const [next, before] = [(place + 1) % size, (place + size - 1) % size];
    const taking = operations.startReceive(this.#comm, into, 4 * count, before, 3);
    const giving = this.#rank.isend(this.#comm, next, 3, at, count, mode);
    this.#mayDie();
    this.#plan.ledger.counts.messages++;
    const error = yield* this.#rank.end(taking, "a receive");
    // The one behind waits for us, and does not know of a death before us.
    if (error !== 0) operations.revoke(this.#comm);
    const sent = yield* this.#rank.end(giving, "a send");
    if (sent !== 0) operations.revoke(this.#comm);
    process.memory.free(at);
    const words = this.#rank.take(into, count);
    const sender = this.#comm.group.worldRanks()[before]!;
    if (error === 0)
      this.#check(
        words,
        Array.from({ length: count }, (_, i) => this.#word(sender, i)),
        "message",
      );
    return error || sent;
  }

  *#fromAnybody(): Steps<number> {
    const { operations } = this.#rank;
    if (this.#comm.rank > 0) return yield* this.#rank.send(this.#comm, 0, 4, [this.#word(this.#rank.rank)]);
    for (let i = 1; i < this.#comm.size; i++) {
      const { error, source, words } = yield* this.#rank.receive(this.#comm, ANY_SOURCE, 4, 1);
      this.#plan.ledger.counts.messages++;
      if (error !== 0) {
        operations.revoke(this.#comm);
        return error;
      }
      this.#check(words, [this.#word(this.#comm.group.worldRanks()[source]!)], "message from anybody");
    }
    return 0;
  }

  /** Several non-blocking collectives at once, among them kinds that are started at once and kinds that synchronise first. */
  *#several(): Steps<number> {
    const { operations, rank, process } = this.#rank;
    const comm = this.#comm;
    const members = comm.group.worldRanks();
    const [send, all] = [this.#rank.put([this.#word(rank)]), this.#rank.put(new Array<number>(comm.size).fill(0))];
    const [sum, each] = [this.#rank.put([0]), this.#rank.put(new Array<number>(comm.size).fill(0))];
    const requests: RecordId[] = [this.#rank.equal(comm, "barrier", nowhere, nowhere, {})];
    this.#mayDie();
    requests.push(this.#rank.equal(comm, "allgather", send, all, { bytes: 4 }));
    requests.push(operations.startReduction(comm, "allreduce", send, sum, { bytes: 4 }, exactReductions.sum));
    this.#mayDie();
    const blocks = equalBlocks(comm.size, 4);
    const collective = {
      kind: "allgatherv",
      rank: comm.rank,
      size: comm.size,
      blocks,
      nodes: comm.memberNodes,
    } as const;
    requests.push(operations.startBlocks(comm, collective, send, each, null, "nonblocking"));
    this.#mayDie();
    const errors: number[] = [];
    for (const request of requests) errors.push(yield* this.#rank.end(request, "a non-blocking collective"));
    this.#plan.ledger.counts.collectives += requests.length;
    process.memory.free(send);
    const [gathered, sums, others] = [
      this.#rank.take(all, comm.size),
      this.#rank.take(sum, 1),
      this.#rank.take(each, comm.size),
    ];
    const words = members.map((member) => this.#word(member));
    if (errors[1] === 0) this.#check(gathered, words, "allgather");
    if (errors[2] === 0) this.#check(sums, [words.reduce((total, word) => (total + word) | 0, 0)], "iallreduce");
    if (errors[3] === 0) this.#check(others, words, "allgatherv");
    return errors.find((error) => error !== 0) ?? 0;
  }

  *#blocks(): Steps<number> {
    const made = yield* this.#rank.task(new Duplicate(this.#comm));
    if (made.result === null) return made.error;
    this.#mayDie();
    const error = yield* this.#rank.barrier(made.result);
    this.#rank.operations.freeCommunicator(made.result);
    return error;
  }

  /** Blocking collectives one after the other on a communicator that has a board, if its members are on one node: each goes well at all that live, or at none. */
  *#meetings(): Steps<number> {
    const { operations, rank, process } = this.#rank;
    const { result: comm, error: failed } = yield* this.#rank.task(new Duplicate(this.#comm));
    if (comm === null) return failed;
    const calls = this.#drawn(9, [2, 5, 9]);
    // In half of the rounds a member revokes it in the middle.
    const revoker = this.#drawn(10, [-1, -1, 0, comm.size - 1]);
    const revokedAt = this.#drawn(11, [0, 1, 2, 4]);
    let error = 0;
    for (let i = 0; i < calls && error === 0; i++) {
      this.#mayDie();
      const at = this.#rank.put([this.#word(rank, i)]);
      const beside = this.#rank.equal(comm, "bcast", nowhere, at, { bytes: 4, root: i % comm.size });
      if (comm.rank === revoker && i === revokedAt) operations.revoke(comm);
      error = yield* this.#met(comm, i);
      this.#plan.ledger.same(`meeting ${i} on ${comm.context}, round ${this.#round}`, rank, `${error === 0}`);
      yield* this.#rank.end(beside, "a broadcast beside");
      process.memory.free(at);
    }
    const isRevoked = operations.isRevoked(comm);
    if (error !== 0 && this.#drawn(2, [true, false])) operations.revoke(comm);
    operations.freeCommunicator(comm);
    return isRevoked && revoker >= 0 ? 0 : error;
  }

  *#met(comm: Communicator, i: number): Steps<number> {
    const members = comm.group.worldRanks();
    this.#plan.ledger.counts.collectives++;
    const count = this.#drawn(12 + i, [0, 1, 10, 2_000]);
    if (count === 0) return yield* this.#rank.barrier(comm);
    const given = (member: number): number[] =>
      Array.from({ length: count }, (_, word) => this.#word(member, word + i));
    const { error, words } = yield* this.#rank.sum(comm, given(this.#rank.rank));
    const all = members.map(given);
    const sums = words.map((_, word) => all.reduce((sum, one) => (sum + one[word]!) | 0, 0));
    if (error === 0) this.#check(words, sums, "one of many sums");
    return error;
  }

  *#split(): Steps<number> {
    const { result: half, error } = yield* this.#rank.task(new Split(this.#comm, this.#comm.rank % 2, 0));
    if (half === null) return error;
    const requests = [this.#rank.equal(half, "barrier", nowhere, nowhere, {})];
    this.#mayDie();
    requests.push(this.#rank.equal(half, "barrier", nowhere, nowhere, {}));
    let worst = 0;
    for (const request of requests) worst = (yield* this.#rank.end(request, "a barrier of a half")) || worst;
    if (this.#drawn(6, [true, false])) this.#rank.operations.freeCommunicator(half);
    return worst;
  }

  /** A communicator of some members, which only they make. */
  *#group(): Steps<number> {
    const { process, rank } = this.#rank;
    const left = this.#drawn(8, [0, 1, 2]);
    const members = this.#comm.group.worldRanks().filter((_, place) => place % 3 !== left);
    if (!members.includes(rank as WorldRank)) return 0;
    const task = yield* this.#rank.task(new CreateGroup(this.#comm, Group.of(members), 5, process.core));
    const isMade = task.result !== null;
    this.#plan.ledger.same(`group on ${this.#comm.context}, round ${this.#round}`, rank, `${isMade}`);
    if (task.result === null) return task.error;
    const error = yield* this.#rank.barrier(task.result);
    this.#rank.operations.freeCommunicator(task.result);
    return error;
  }

  *#agreeTwice(): Steps<number> {
    const { operations, rank } = this.#rank;
    const tasks = [new Agree(this.#comm, ~(1 << (rank % 31))), new Agree(this.#comm, ~(1 << (rank % 13)))];
    const requests = tasks.map((task) => operations.startTask(task));
    for (const request of requests) yield* this.#rank.end(request, "an agreement");
    for (const [i, { flags, error }] of tasks.entries()) {
      this.#plan.ledger.same(`${i} of two on ${this.#comm.context}, round ${this.#round}`, rank, `${flags} ${error}`);
    }
    return 0;
  }
}
