/**
 * A random program that repairs itself, as programs with ULFM do: in each round the members of its communicator do something together, agree
 * whether it went well at all of them, and go on with a smaller communicator when it did not. What they do follows from the
 * seed and the round, so all of them do the same.
 */
import { CloseFile } from "../../abi/files/close-file.ts";
import type { CFile } from "../../abi/files/file.ts";
import { SetSize, SyncFile } from "../../abi/files/file-tasks.ts";
import { Mode } from "../../abi/files/mode.ts";
import { OpenFile } from "../../abi/files/open-file.ts";
import { advanceShared } from "../../abi/files/shared-pointer.ts";
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { ANY_SOURCE } from "../../core/base/constants.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { Group } from "../../core/comm/group.ts";
import { Info } from "../../core/comm/info.ts";
import { Agree } from "../../core/process/agree.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import type { SpawnOutcome } from "../../core/process/communicators/spawn.ts";
import {
  CreateGroup,
  CreateInter,
  Duplicate,
  MeetParents,
  Merge,
  Shrink,
  Spawn,
  Split,
} from "../../core/process/new-communicators.ts";
import type { Task } from "../../core/process/task.ts";
import { R_ERROR, SendMode } from "../../core/request/records.ts";
import type { Ledger } from "../ledger.ts";
import type { FileSystem } from "../outside/file-system.ts";
import { mixed } from "../script/mixed-number.ts";
import type { SimProcess, Steps } from "../sim-process.ts";
import type { Birth, Births } from "./births.ts";
import { RankDisk } from "./rank-disk.ts";

const { PROC_FAILED, PROC_FAILED_PENDING, REVOKED, SPAWN } = ErrorClass;

/** Of the message by which parents take new processes into their communicator. */
const joinTag = 12;
/** All members know that a round has failed, and its errors have been judged: deaths that were acknowledged meanwhile must not stay in the communicator. */
const notWell = -1;

interface Repairing {
  readonly seed: number;
  readonly rounds: number;
  readonly ledger: Ledger;
  /** The orders of spawns, by round: what the dispatcher would tell the children. */
  readonly orders: Map<number, { readonly context: number; readonly count: number }>;
  readonly births: Births;
  readonly files: FileSystem;
  /** Is the process dead? */
  readonly isDead: (rank: number) => boolean;
  /** The process ends itself, without MPI_Finalize. */
  readonly die: (rank: number) => void;
}

/** One rank of it. */
export class RepairingRank {
  readonly #process: SimProcess;
  readonly #plan: Repairing;
  #comm: Communicator;
  #round = 0;
  /** Of this round: what was made and is to be used when all have it. */
  #made: Communicator | null = null;
  readonly #disk: RankDisk;

  constructor(process: SimProcess, plan: Repairing) {
    this.#process = process;
    this.#plan = plan;
    this.#comm = process.core.world;
    this.#disk = new RankDisk(process, plan.files);
  }

  /** One that was spawned: it joins the others at the end of the round in which they have taken it in, or ends. */
  *join(birth: Birth): Steps {
    const { core, rank } = this.#process;
    const between = (yield* this.#task(new MeetParents(birth))).result;
    const merged = between === null ? null : (yield* this.#task(new Merge(between, true, core))).result;
    // All parents have merged as well: they agree whether all have succeeded, and one of them says so.
    const round = between === null || merged === null ? -1 : yield* this.#takenIn(between, birth.root);
    if (between === null || merged === null || round < 0) {
      this.#plan.die(rank);
      return yield this.#process.until("its own end", () => false);
    }
    this.#leave(between);
    this.#comm = merged;
    this.#round = round;
    this.#plan.ledger.counts.joined++;
    yield* this.#endRound(0);
    yield* this.run();
  }

  /** The round in which the parents have taken this process in; −1: they have not. */
  *#takenIn(between: Communicator, root: number): Steps<number> {
    const { core, memory } = this.#process;
    const word = this.#allocate(1);
    const error = yield* this.#end(core.startReceive(between, word, 4, root, joinTag));
    const round = this.#words(word, 1)[0]!;
    memory.free(word);
    return error === 0 ? round : -1;
  }

  *run(): Steps {
    const { seed, rounds } = this.#plan;
    const { core, rank } = this.#process;
    const actions = [
      () => this.#gatherAll(),
      () => this.#spread(),
      () => this.#several(),
      () => this.#ring(),
      () => this.#fromAnybody(),
      () => this.#duplicate(),
      () => this.#split(),
      () => this.#group(),
      () => this.#bothSides(),
      () => this.#spawn(),
      () => this.#agreeTwice(),
      () => this.#file(this.#comm),
      () => this.#fileOfHalf(),
      () => this.#grow(),
      () => this.#grow(),
    ];
    while (this.#round < rounds) {
      yield this.#process.compute(1 + (mixed(seed, this.#round, rank) % this.#drawn(1, [10, 3_000, 60_000])));
      const error = yield* actions[mixed(seed, this.#round) % actions.length]!();
      this.#judge(error, this.#comm.group.worldRanks());
      if (error !== 0 && this.#drawn(2, [true, false])) core.revocations.revoke(this.#comm);
      yield* this.#endRound(error);
    }
    yield core.startFinalBarrier();
  }

  /** The members agree how it went, and those that live go on. */
  *#endRound(error: number): Steps {
    const { core, rank } = this.#process;
    const { ledger } = this.#plan;
    const isWell = yield* this.#agree(this.#comm, error === 0);
    yield* this.#useMade(isWell);
    if (!isWell) yield* this.#shrink();
    const known = core.failures.acknowledgedOf(this.#comm).worldRanks();
    // Who has acknowledged a member's death may wait for it for ever, in a receive from anybody.
    if (known.length > 0) ledger.wrong("acknowledged deaths leave", `round ${this.#round}: ${known} at rank ${rank}`);
    this.#round++;
  }

  /** The same choice for all ranks in this round. */
  #drawn<T>(salt: number, list: readonly T[]): T {
    return list[mixed(this.#plan.seed, this.#round, 1_000 + salt) % list.length]!;
  }

  /** An error needs a dead member: only those who communicate with the dead hear of a failure. */
  #judge(error: number, members: readonly number[]): void {
    const isKnown = error === PROC_FAILED || error === PROC_FAILED_PENDING || error === REVOKED;
    if (error === 0 || error === notWell || (isKnown && members.some((member) => this.#plan.isDead(member)))) return;
    const place = `round ${this.#round}: rank ${this.#process.rank} got ${error}, of members ${members}`;
    this.#plan.ledger.wrong("errors have a reason", place);
  }

  *#end(request: RecordId): Steps<number> {
    yield request;
    const { engine } = this.#process;
    const error = engine.records.get(request, R_ERROR);
    engine.giveBack(request);
    return error;
  }

  *#task<T extends Task>(task: T): Steps<T> {
    yield* this.#end(this.#process.core.start(task));
    return task;
  }

  *#agree(comm: Communicator, isWell: boolean): Steps<boolean> {
    const matter = matterOf(comm);
    const { core, rank } = this.#process;
    const { flags, error } = yield* this.#task(new Agree(comm, isWell ? 1 : 0));
    const { ledger } = this.#plan;
    ledger.counts.agreements++;
    ledger.same(matter, rank, `flags ${flags}, error ${error}`);
    if (error !== 0) core.failures.acknowledge(comm, comm.size + (comm.remote?.size ?? 0));
    return flags === 1 && error === 0;
  }

  *#shrink(): Steps {
    const { core, rank } = this.#process;
    const { ledger } = this.#plan;
    const old = this.#comm;
    const matter = `shrinking by ${matterOf(old)}`;
    const { result } = yield* this.#task(new Shrink(old));
    const group = result?.group.worldRanks() ?? [];
    ledger.counts.shrinks++;
    ledger.same(matter, rank, `context ${result?.context}, ranks ${group}`);
    if (!group.some((member) => member === rank)) ledger.wrong("survivors are in", `rank ${rank} is not in ${group}`);
    if (old !== core.world) core.freeCommunicator(old);
    this.#comm = result!;
  }

  /** All members have what was made, or it goes. */
  *#useMade(isWell: boolean): Steps {
    const made = this.#made;
    this.#made = null;
    if (made === null) return;
    const { core } = this.#process;
    if (isWell) {
      const { collectives } = core;
      yield* this.#end(collectives.startEqual(made, "barrier", 0 as Pointer, 0 as Pointer, {}));
      if (this.#drawn(3, [true, false])) yield* this.#agree(made, true);
    }
    core.disconnect(made);
    core.freeCommunicator(made);
  }

  /** Words of this rank and round that no other has. */
  #word(rank: number, place: number): number {
    return mixed(this.#plan.seed, this.#round, rank, place) | 0;
  }

  #allocate(words: number): Pointer {
    return this.#process.memory.allocate(4 * words);
  }

  #words(at: Pointer, count: number): Int32Array {
    return new Int32Array(this.#process.memory.bytes.buffer, at, count);
  }

  #check(words: Int32Array, from: number, what: string): void {
    const wrong = words.findIndex((word, i) => word !== this.#word(from, i));
    if (wrong < 0) return;
    const place = `round ${this.#round}, rank ${this.#process.rank}: word ${wrong} of rank ${from}`;
    this.#plan.ledger.wrong("what completed is right", `${what}, ${place}`);
  }

  *#gatherAll(): Steps<number> {
    const { core, rank, memory } = this.#process;
    const comm = this.#comm;
    const count = this.#drawn(4, [1, 40, 3_000]);
    const [send, receive] = [this.#allocate(count), this.#allocate(count * comm.size)];
    for (let i = 0; i < count; i++) this.#words(send, count)[i] = this.#word(rank, i);
    const kind = this.#drawn(5, ["allgather", "allgather", "gather"] as const);
    const form = this.#drawn(6, ["blocking", "nonblocking"] as const);
    const root = this.#drawn(7, [0, comm.size - 1]);
    const call = { bytes: 4 * count, root, form };
    this.#plan.ledger.counts.collectives++;
    const error = yield* this.#end(core.collectives.startEqual(comm, kind, send, receive, call));
    const isHere = kind === "allgather" || comm.rank === root;
    for (const [member, world] of comm.group.worldRanks().entries()) {
      const block = this.#words((receive + 4 * count * member) as Pointer, count);
      if (error === 0 && isHere) this.#check(block, world, kind);
    }
    memory.free(send);
    memory.free(receive);
    return error;
  }

  *#spread(): Steps<number> {
    const { core, rank, memory } = this.#process;
    const comm = this.#comm;
    const count = this.#drawn(4, [1, 40, 3_000]);
    const root = this.#drawn(7, [0, comm.size >> 1, comm.size - 1]);
    const rootWorld = comm.group.worldRanks()[root]!;
    const buffer = this.#allocate(count);
    if (rank === rootWorld) for (let i = 0; i < count; i++) this.#words(buffer, count)[i] = this.#word(rank, i);
    const form = this.#drawn(6, ["blocking", "nonblocking"] as const);
    const call = { bytes: 4 * count, root, form };
    this.#plan.ledger.counts.collectives++;
    const error = yield* this.#end(core.collectives.startEqual(comm, "bcast", 0 as Pointer, buffer, call));
    if (error === 0) this.#check(this.#words(buffer, count), rootWorld, "bcast");
    memory.free(buffer);
    return error;
  }

  /** Several collectives at once, and an agreement beside them. */
  *#several(): Steps<number> {
    const { core, memory } = this.#process;
    const comm = this.#comm;
    const buffer = this.#allocate(64 * comm.size);
    const { collectives } = core;
    const start = (kind: "barrier" | "alltoall"): RecordId =>
      collectives.startEqual(comm, kind, buffer, (buffer + 128 * comm.size) as Pointer, { bytes: 128 });
    const requests = [start("barrier"), start("alltoall"), start("barrier")];
    const agree = new Agree(comm, -1);
    const matter = matterOf(comm);
    const beside = core.start(agree);
    let worst = 0;
    for (const request of requests) worst = (yield* this.#end(request)) || worst;
    yield* this.#end(beside);
    this.#plan.ledger.same(matter, this.#process.rank, `flags ${agree.flags}, error ${agree.error}`);
    memory.free(buffer);
    return worst;
  }

  *#agreeTwice(): Steps<number> {
    const { core, rank } = this.#process;
    const matter = matterOf(this.#comm);
    const tasks = [new Agree(this.#comm, ~(1 << (rank % 31))), new Agree(this.#comm, ~(1 << (rank % 13)))];
    const requests = tasks.map((task) => core.start(task));
    for (const request of requests.reverse()) yield* this.#end(request);
    for (const [i, { flags, error }] of tasks.entries()) {
      this.#plan.ledger.same(`${matter}, ${i}`, rank, `flags ${flags}, error ${error}`);
    }
    return 0;
  }

  *#ring(): Steps<number> {
    const { core, memory, rank } = this.#process;
    const comm = this.#comm;
    const count = this.#drawn(4, [1, 100, 4_000]);
    const [send, receive] = [this.#allocate(count), this.#allocate(count)];
    for (let i = 0; i < count; i++) this.#words(send, count)[i] = this.#word(rank, i);
    const [next, before] = [(comm.rank + 1) % comm.size, (comm.rank + comm.size - 1) % comm.size];
    const taking = core.startReceive(comm, receive, 4 * count, before, 3);
    const giving = core.startSend(comm, send, 4 * count, next, 3, SendMode.STANDARD);
    this.#plan.ledger.counts.messages++;
    const error = yield* this.#end(taking);
    if (error === 0) this.#check(this.#words(receive, count), comm.group.worldRanks()[before]!, "message");
    const worst = (yield* this.#end(giving)) || error;
    memory.free(send);
    memory.free(receive);
    return worst;
  }

  /** The first member receives from anybody; it revokes when it cannot. */
  *#fromAnybody(): Steps<number> {
    const { core, memory } = this.#process;
    const comm = this.#comm;
    const buffer = this.#allocate(10);
    let error = 0;
    if (comm.rank > 0) error = yield* this.#end(core.startSend(comm, buffer, 40, 0, 4, SendMode.STANDARD));
    else {
      for (let i = 1; i < comm.size && error === 0; i++) {
        error = yield* this.#end(core.startReceive(comm, buffer, 40, ANY_SOURCE, 4));
      }
      if (error !== 0) core.revocations.revoke(comm);
    }
    this.#plan.ledger.counts.messages++;
    memory.free(buffer);
    return error;
  }

  *#duplicate(): Steps<number> {
    const { error, result } = yield* this.#task(new Duplicate(this.#comm));
    this.#made = result;
    return error;
  }

  *#split(): Steps<number> {
    const { rank } = this.#process;
    const color = this.#word(rank, 9) & 1;
    const { error, result } = yield* this.#task(new Split(this.#comm, color, -rank));
    this.#made = result;
    return error;
  }

  /** The members at even places, by themselves. */
  *#group(): Steps<number> {
    const { core } = this.#process;
    const comm = this.#comm;
    if (comm.rank % 2 === 1) return 0;
    const members = comm.group.worldRanks().filter((_, place) => place % 2 === 0);
    const { error, result } = yield* this.#task(new CreateGroup(comm, Group.of(members), 7, core));
    this.#made = result;
    return error;
  }

  /** The two halves, each with a communicator of its own. Null: not all have one. */
  *#halves(): Steps<Communicator | null> {
    const comm = this.#comm;
    const { result } = yield* this.#task(new Split(comm, comm.rank < comm.size >> 1 ? 0 : 1, 0));
    const isWell = yield* this.#agree(comm, result !== null);
    if (!isWell && result !== null) this.#process.core.freeCommunicator(result);
    return isWell ? result : null;
  }

  *#bothSides(): Steps<number> {
    const { core } = this.#process;
    const comm = this.#comm;
    if (comm.size < 2) return 0;
    const half = yield* this.#halves();
    if (half === null) return PROC_FAILED;
    const isFirst = comm.rank < comm.size >> 1;
    const other = isFirst ? comm.size >> 1 : 0;
    const between = yield* this.#task(new CreateInter(half, 0, comm, other, 11));
    const isWell = yield* this.#agree(comm, between.error === 0);
    core.freeCommunicator(half);
    this.#judge(between.error, comm.group.worldRanks());
    if (!isWell) {
      if (between.result !== null) core.freeCommunicator(between.result);
      return notWell;
    }
    const merged = yield* this.#task(new Merge(between.result!, !isFirst, core));
    core.freeCommunicator(between.result!);
    this.#made = merged.result;
    return merged.error;
  }

  /** The second half is the children of the first, which were started when its root asked for them. */
  *#spawn(): Steps<number> {
    const comm = this.#comm;
    if (comm.size < 2) return 0;
    const half = yield* this.#halves();
    if (half === null) return PROC_FAILED;
    const { core } = this.#process;
    const { orders } = this.#plan;
    const all = comm.group.worldRanks();
    const [parents, children] = [all.slice(0, comm.size >> 1), all.slice(comm.size >> 1)];
    const round = this.#round;
    let task: Spawn | MeetParents;
    if (comm.rank < comm.size >> 1) {
      const outcome = { error: 0, why: "", wanted: children.length, children };
      if (half.rank === 0) orders.set(round, { context: half.context, count: half.children });
      task = new Spawn(half, 0, half.rank === 0 ? outcome : null);
    } else {
      const root = parents[0]!;
      yield this.#process.until("orders", () => orders.has(round) || core.engine.peers.hasFailed(root));
      const order = orders.get(round);
      core.freeCommunicator(half);
      if (order === undefined) return PROC_FAILED;
      task = new MeetParents({ world: children, parents, ...order, command: 0 });
    }
    yield* this.#task(task);
    if (comm.rank < comm.size >> 1) core.freeCommunicator(half);
    this.#made = task.result;
    return task.error;
  }

  /** New processes are started, and taken in when all members have them. */
  *#grow(): Steps<number> {
    const { core } = this.#process;
    const comm = this.#comm;
    const root = this.#drawn(8, [0, comm.size - 1]);
    const outcome = comm.rank === root ? yield* this.#wish(root) : null;
    const spawn = yield* this.#task(new Spawn(comm, root, outcome));
    const members = [...comm.group.worldRanks(), ...(spawn.outcome?.children ?? [])];
    // Too few numbers are free: some may hear of that, and others of a death.
    if (spawn.error !== SPAWN) this.#judge(spawn.error, members);
    const between = spawn.result;
    const merge = between === null ? null : yield* this.#task(new Merge(between, false, core));
    this.#judge(merge?.error ?? 0, members);
    const merged = merge?.result ?? null;
    const isWell = yield* this.#agree(comm, merged !== null);
    if (isWell && between !== null && merged !== null) {
      if (comm.rank === root) yield* this.#takeIn(between);
      this.#leave(between);
      if (comm !== core.world) core.freeCommunicator(comm);
      this.#comm = merged;
      return 0;
    }
    // New processes that have got so far hear of it, and end.
    for (const made of [between, merged]) {
      if (made === null) continue;
      core.revocations.revoke(made);
      this.#leave(made);
    }
    return notWell;
  }

  *#wish(root: number): Steps<SpawnOutcome> {
    const { group, context, children: count } = this.#comm;
    let outcome: SpawnOutcome | null = null;
    this.#plan.births.ask(this.#drawn(9, [1, 2]), { parents: group.worldRanks(), root, context, count }, (answer) => {
      outcome = answer;
    });
    yield this.#process.until("the answer to a spawn", () => outcome !== null);
    return outcome!;
  }

  /** All parents have the new communicator: the new processes are told so, and which round it is. */
  *#takeIn(between: Communicator): Steps {
    const { core, memory } = this.#process;
    const word = this.#allocate(1);
    this.#words(word, 1)[0] = this.#round;
    for (let child = 0; child < between.peers.size; child++) {
      yield* this.#end(core.startSend(between, word, 4, child, joinTag, SendMode.STANDARD));
    }
    memory.free(word);
  }

  /** In half of the programs without a farewell: then it is said at the end. */
  #leave(comm: Communicator): void {
    const { core } = this.#process;
    if (mixed(this.#plan.seed) % 2 === 0) core.disconnect(comm);
    core.freeCommunicator(comm);
  }

  /** A file of some of the members: no other death concerns it. */
  *#fileOfHalf(): Steps<number> {
    const half = yield* this.#halves();
    if (half === null) return PROC_FAILED;
    const error = yield* this.#file(half);
    this.#judge(error, half.group.worldRanks());
    this.#process.core.freeCommunicator(half);
    return error;
  }

  /** Everybody writes its word, and after a sync reads that of another one. */
  *#file(comm: Communicator): Steps<number> {
    const mode = Mode.CREATE | Mode.RDWR | this.#drawn(4, [0, Mode.DELETE_ON_CLOSE]);
    const name = `of-${comm.context >>> 0}-${comm.group.worldRanks()[0]}`;
    const opening = yield* this.#task(new OpenFile(this.#disk, comm, { name, mode, info: new Info() }));
    if (opening.error !== 0) return opening.error;
    const file = opening.file();
    const error = yield* this.#useFile(file, comm);
    const closing = yield* this.#task(new CloseFile(this.#disk, file));
    if (closing.error === 0) {
      this.#disk.operations.freeCommunicator(file.comm);
      this.#disk.files.remove(file.handle);
    }
    return error || closing.error;
  }

  *#useFile(file: CFile, comm: Communicator): Steps<number> {
    const { disk } = this.#disk;
    const { ledger } = this.#plan;
    const sizing = yield* this.#task(new SetSize(this.#disk, file, 4 * comm.size, true));
    if (sizing.error !== 0) return sizing.error;
    disk.write(file.descriptor, new Uint8Array(Int32Array.of(this.#word(this.#process.rank, 5)).buffer), 4 * comm.rank);
    const place = advanceShared(this.#disk, file, 1);
    ledger.once(`place ${place} of ${file.name}, round ${this.#round}`, this.#process.rank);
    const sync = yield* this.#task(new SyncFile(this.#disk, file));
    if (sync.error !== 0) return sync.error;
    ledger.counts.files++;
    const other = (comm.rank + 1) % comm.size;
    const read = new Int32Array(1);
    disk.read(file.descriptor, new Uint8Array(read.buffer), 4 * other);
    const from = comm.group.worldRanks()[other]!;
    if (read[0] !== this.#word(from, 5))
      ledger.wrong("what was written is there", `${file.name}: word of rank ${from}`);
    return 0;
  }
}

/** The next agreement on a communicator. Communicators that a split has made together have one context and different members. */
function matterOf({ context, agreements, group, remote }: Communicator): string {
  const members = [...group.worldRanks(), ...(remote?.worldRanks() ?? [])].sort((a, b) => a - b);
  return `agreement ${agreements} in ${context} of ${members}`;
}
