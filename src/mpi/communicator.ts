/**
 * A communicator as programs see it: every method that a program can call on it, in the order of the standard's chapters.
 *
 * A communicator has parts: messages (point-to-point.ts), probes (probes.ts), collectives (collectives.ts), its name, error handler,
 * attributes and info (communicator-state.ts). A method here fills in the defaults of its options and calls a part, or what both
 * faces of MPI share (core/binding); see ADR 17.
 *
 * Typed arrays, and arrays with a datatype, travel as bytes; the result of a collective is a new array of the same kind unless
 * `into` names an array for it. Anything else is an object and travels by structured clone. `mpi.IN_PLACE` in the place of the data
 * that is sent means that the data is in `into` already. On an inter-communicator the root says `mpi.ROOT`, the rest of its group
 * `mpi.PROC_NULL`, the other group the root's rank.
 *
 * Making a communicator is collective: all members of the old one call. Those that are no members of the new one get null.
 */
import { ANY_SOURCE, ANY_TAG, UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkOpen } from "../core/binding/checks.ts";
import {
  type CommType,
  checkMortal,
  createGroupTask,
  createInterTask,
  createTask,
  mergeTask,
  remoteOf,
  resourceKey,
  splitTask,
  splitTypeTask,
} from "../core/binding/new-communicators.ts";
import { createFirst, distGraphOf, graphOf, gridOf, ranksFor } from "../core/binding/topologies.ts";
import { CartesianTopology } from "../core/comm/topology/cartesian.ts";
import { type Adjacent, type Contribution, DistGraphTopology, edgesOf } from "../core/comm/topology/dist-graph.ts";
import { GraphTopology, type Neighbours } from "../core/comm/topology/graph.ts";
import type { Topology } from "../core/comm/topology/topology.ts";
import { Agree } from "../core/process/agree.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import { CreateDistGraph } from "../core/process/communicators/create-dist-graph.ts";
import type { NewCommunicator } from "../core/process/communicators/new-communicator.ts";
import { Duplicate, Shrink, Split } from "../core/process/new-communicators.ts";
import { SendMode } from "../core/request/records.ts";
import { AgreementOutcome } from "./agreement.ts";
import { type BufferLike, isTypedArray, isTypedBuffer, type TypedArray } from "./buffers.ts";
import type { InPlace } from "./collective-sides.ts";
import {
  type AlltoallVInto,
  ArrayCollectives,
  type ArrayParts,
  type CountsInto,
  type Into,
  layoutsOf,
  partLayoutOf,
  type Rooted,
  type RootedInto,
  type RootedVInto,
  type ScatterInto,
  type ScatterVInto,
  type VInto,
} from "./collectives.ts";
import {
  CommunicatorState,
  type ErrorHandler,
  type InfoLike,
  infoOf,
  type StateOptions,
} from "./communicator-state.ts";
import type { Environment } from "./environment.ts";
import { Group } from "./group.ts";
import { Info } from "./info.ts";
import type { Keyval } from "./keyvals.ts";
import type { OpLike } from "./operations.ts";
import { guarded, type Owner } from "./owner.ts";
import { type From, PointToPoint, type To } from "./point-to-point.ts";
import { type Message, Probes } from "./probes.ts";
import { errorOf, type PersistentRequest, type Request, type Started } from "./request.ts";
import { type SpawnedProgram, type SpawnOptions, spawn } from "./spawning.ts";
import type { Sent } from "./start-movement.ts";
import { Status } from "./status.ts";

export type { CommType } from "../core/binding/new-communicators.ts";
export type { Adjacent, Contribution } from "../core/comm/topology/dist-graph.ts";

export interface InterOptions {
  /** The rank in this communicator that speaks for our side. */
  readonly leader?: number;
  /** The communicator in which the two leaders can talk; only the leader's counts. */
  readonly bridge: Communicator | null;
  /** Rank of the other side's leader in `bridge`. */
  readonly remoteLeader: number;
  readonly tag?: number;
}

export interface Grid {
  readonly dims: readonly number[];
  readonly periods: readonly boolean[];
  /** Where this rank is. */
  readonly coords: readonly number[];
}

/** The properties that a new communicator takes over. */
interface Heritage {
  readonly topology?: Topology | null;
  readonly attributesFrom?: Communicator;
  readonly info?: Info;
}

const noOptions: RootedInto<never> = {};

export class Communicator implements Owner {
  /** The communicator itself; for other files of this folder. */
  readonly core: CoreCommunicator;
  readonly #environment: Environment;
  readonly #messages: PointToPoint;
  readonly #probes: Probes;
  readonly #collectives: ArrayCollectives;
  readonly #state: CommunicatorState<Communicator>;

  constructor(environment: Environment, core: CoreCommunicator, options: StateOptions<Communicator> = {}) {
    this.core = core;
    this.#environment = environment;
    this.#messages = new PointToPoint(environment, this);
    this.#probes = new Probes(environment, this, this.#messages);
    this.#collectives = new ArrayCollectives(environment, this);
    this.#state = new CommunicatorState<Communicator>(environment, this, options);
  }

  get rank(): number {
    return this.core.rank;
  }

  get size(): number {
    return this.core.size;
  }

  // Messages: chapter 3

  /** Standard mode: returns when the data may be changed again. */
  send(data: BufferLike | unknown, { dest, tag = 0 }: To): void {
    this.#messages.send(data, dest, tag);
  }

  /** Synchronous mode: returns when the receive has started. */
  ssend(data: BufferLike | unknown, { dest, tag = 0 }: To): void {
    this.#messages.sendInMode(SendMode.SYNCHRONOUS, data, dest, tag);
  }

  /** Ready mode: the program promises that the receive is posted. */
  rsend(data: BufferLike | unknown, { dest, tag = 0 }: To): void {
    this.#messages.sendInMode(SendMode.READY, data, dest, tag);
  }

  /** Buffered mode: the data is copied, the call never waits for the receiver. */
  bsend(data: BufferLike | unknown, { dest, tag = 0 }: To): void {
    this.#messages.ibsend(data, dest, tag);
  }

  /** Receives into `buffer`. */
  recv(buffer: BufferLike, from?: From): Status;
  /** Receives an object. */
  recv<T = unknown>(from?: From): T;
  recv(first?: BufferLike | From, second?: From): unknown {
    if (isTypedArray(first)) {
      return this.#messages.recv(first, second?.source ?? ANY_SOURCE, second?.tag ?? ANY_TAG, second?.status);
    }
    return isTypedBuffer(first) ? this.irecv(first, second).waitToTheEnd() : this.#probes.recvObject(first ?? {});
  }

  /** Sends and receives at once: cannot deadlock against another sendrecv (MPI 5.0 §3.10). */
  sendrecv(data: BufferLike | unknown, to: To, buffer: BufferLike, from: From = {}): Status {
    return this.isendrecv(data, to, buffer, from).waitToTheEnd();
  }

  /** As `sendrecv`, with one buffer for both. */
  sendrecvReplace(buffer: BufferLike, to: To, from: From = {}): Status {
    return this.isendrecvReplace(buffer, to, from).waitToTheEnd();
  }

  isend(data: BufferLike | unknown, { dest, tag = 0 }: To): Request {
    return this.#messages.isend(SendMode.STANDARD, data, dest, tag);
  }

  issend(data: BufferLike | unknown, { dest, tag = 0 }: To): Request {
    return this.#messages.isend(SendMode.SYNCHRONOUS, data, dest, tag);
  }

  irsend(data: BufferLike | unknown, { dest, tag = 0 }: To): Request {
    return this.#messages.isend(SendMode.READY, data, dest, tag);
  }

  ibsend(data: BufferLike | unknown, { dest, tag = 0 }: To): Request {
    return this.#messages.ibsend(data, dest, tag);
  }

  irecv(buffer: BufferLike, { source = ANY_SOURCE, tag = ANY_TAG }: From = {}): Request {
    return this.#messages.irecv(buffer, source, tag);
  }

  isendrecv(data: BufferLike | unknown, to: To, buffer: BufferLike, from: From = {}): Request {
    return this.#messages.isendrecv(data, to, buffer, from.source ?? ANY_SOURCE, from.tag ?? ANY_TAG);
  }

  isendrecvReplace(buffer: BufferLike, to: To, { source = ANY_SOURCE, tag = ANY_TAG }: From = {}): Request {
    return this.#messages.isendrecvReplace(buffer, to, source, tag);
  }

  sendInit(data: BufferLike, { dest, tag = 0 }: To): PersistentRequest {
    return this.#messages.sendInit(SendMode.STANDARD, data, dest, tag);
  }

  ssendInit(data: BufferLike, { dest, tag = 0 }: To): PersistentRequest {
    return this.#messages.sendInit(SendMode.SYNCHRONOUS, data, dest, tag);
  }

  rsendInit(data: BufferLike, { dest, tag = 0 }: To): PersistentRequest {
    return this.#messages.sendInit(SendMode.READY, data, dest, tag);
  }

  bsendInit(data: BufferLike, { dest, tag = 0 }: To): PersistentRequest {
    return this.#messages.sendInit(SendMode.BUFFERED, data, dest, tag);
  }

  recvInit(buffer: BufferLike, { source = ANY_SOURCE, tag = ANY_TAG }: From = {}): PersistentRequest {
    return this.#messages.recvInit(buffer, source, tag);
  }

  /** Waits until a message is there that `recv` with the same arguments would take, and gives its status. */
  probe({ source = ANY_SOURCE, tag = ANY_TAG }: From = {}): Status {
    return this.#probes.probe(source, tag);
  }

  /** As `probe`, without waiting: null when there is no such message. */
  iprobe({ source = ANY_SOURCE, tag = ANY_TAG }: From = {}): Status | null {
    return this.#probes.iprobe(source, tag);
  }

  /** As `probe`, and the message is set aside for the `Message` that is returned. */
  mprobe({ source = ANY_SOURCE, tag = ANY_TAG }: From = {}): Message {
    return this.#probes.mprobe(source, tag);
  }

  improbe({ source = ANY_SOURCE, tag = ANY_TAG }: From = {}): Message | null {
    return this.#probes.improbe(source, tag);
  }

  // Collectives: chapter 6

  /** Returns when every rank has called it. */
  barrier(): void {
    this.#collectives.barrier();
  }

  /** Fills the root's array into those of all ranks, and returns it. */
  bcast<T extends BufferLike>(data: T, options?: Rooted): T;
  /** Every rank gets a copy of the root's object; the values of the others do not matter. */
  bcast<T>(value: T | null | undefined, options?: Rooted): T;
  bcast(data: unknown, { root = 0 }: Rooted = noOptions): unknown {
    return this.#run("bcast", () => this.#moves.bcastValue(data, root, "blocking"), data, root);
  }

  /** The root gets the elements of all ranks, in the order of ranks; the others get null. */
  gather<T extends TypedArray>(data: Sent<T>, options?: RootedInto<T>): T | null;
  gather<T>(value: T, options?: Rooted): T[] | null;
  gather(data: unknown, { root = 0, into }: RootedInto<TypedArray> = noOptions): unknown {
    return this.#run("gather", () => this.#moves.gatherValue(data, root, into, "blocking"), data, root);
  }

  /** As `gather`, with as many elements of each rank as the root's `counts` say. */
  gatherv<T extends TypedArray>(data: Sent<T>, options: RootedVInto<T> = {}): T | null {
    const { root = 0, into } = options;
    return this.#run("gatherv", () => this.#moves.gatherv(data, root, partLayoutOf(options), into), data, root);
  }

  /** Every rank gets its part of the root's elements, in `into`. The root itself may leave its part where it is. */
  scatter<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterInto<T>): T;
  /** Every rank gets one of the root's values. */
  scatter<T>(values: readonly T[] | null | undefined, options?: Rooted): T;
  scatter(data: unknown, options: Rooted & { into?: Sent<TypedArray> | undefined } = noOptions): unknown {
    const { root = 0, into } = options;
    return this.#run("scatter", () => this.#moves.scatterValue(data, root, into), data, root);
  }

  /** As `scatter`, with as many elements for each rank as the root's `counts` say. */
  scatterv<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterVInto<T>): T {
    const { root = 0, into } = options;
    return this.#run("scatterv", () => this.#moves.scatterv(data, root, partLayoutOf(options), into), data, root) as T;
  }

  /** Every rank gets the elements of all ranks, in the order of ranks. */
  allgather<T extends TypedArray>(data: Sent<T>, options?: Into<T>): T;
  allgather<T>(value: T): T[];
  allgather(data: unknown, { into }: Into<TypedArray> = noOptions): unknown {
    return this.#run("allgather", () => this.#moves.allgatherValue(data, into, "blocking"), data);
  }

  allgatherv<T extends TypedArray>(data: Sent<T>, options: VInto<T>): T {
    return this.#run("allgatherv", () => this.#moves.allgatherv(data, options, options.into), data);
  }

  /** Part i of the elements goes to rank i; part i of the result comes from there. */
  alltoall<T extends TypedArray>(data: Sent<T>, options?: Into<T>): T;
  alltoall<T>(values: readonly T[]): T[];
  alltoall(data: unknown, { into }: Into<TypedArray> = noOptions): unknown {
    return this.#run("alltoall", () => this.#moves.alltoallValue(data, into), data);
  }

  alltoallv<T extends TypedArray>(data: Sent<T>, options: AlltoallVInto<T>): T {
    return this.#run("alltoallv", () => this.#moves.alltoallv(data, layoutsOf(options), options.into), data);
  }

  /** Buffer i goes to rank i; what comes from there goes to buffer i of `into`. */
  alltoallw<P extends ArrayParts>(parts: ArrayParts | InPlace, { into }: { readonly into: P }): P {
    return this.#run("alltoallw", () => this.#moves.alltoallw(parts, into)) as P;
  }

  /** The root gets the combination of the elements of all ranks, the others null. */
  reduce<T extends TypedArray>(data: Sent<T> | null, op: OpLike, options: RootedInto<T> = noOptions): T | null {
    const { root = 0, into } = options;
    return this.#run("reduce", () => this.#reductions.reduce({ data, op, into }, root, "blocking"), data, root);
  }

  /** Every rank gets the combination of the elements of all ranks. */
  allreduce<T extends TypedArray>(data: Sent<T>, op: OpLike, options: Into<T> = noOptions): T {
    return this.#collectives.allreduce(data, op, options.into);
  }

  /** The combination of the elements of all ranks is shared out: rank i gets the next `counts[i]` of them. */
  reduceScatter<T extends TypedArray>(data: Sent<T>, op: OpLike, { counts, into }: CountsInto<T>): T {
    return this.#run("reduceScatter", () => this.#reductions.reduceScatter({ data, op, into }, counts), data);
  }

  /** As `reduceScatter`, with as many elements for every rank. */
  reduceScatterBlock<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = noOptions): T {
    return this.#run("reduceScatterBlock", () => this.#reductions.reduceScatterBlock({ data, op, into }), data);
  }

  /** Rank i gets the combination of the elements of ranks 0 to i. */
  scan<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = noOptions): T {
    return this.#run("scan", () => this.#reductions.scan({ data, op, into }), data);
  }

  /** Rank i gets the combination of the elements of ranks 0 to i − 1; rank 0 gets null. */
  exscan<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = noOptions): T | null {
    return this.#run("exscan", () => this.#reductions.exscan({ data, op, into }), data);
  }

  // Non-blocking collectives, §6.12: all ranks start them in the same order, among each other and among the blocking ones

  ibarrier(): Request {
    return this.#request(this.#moves.barrier());
  }

  ibcast<T extends BufferLike>(data: T, options?: Rooted): Request<T>;
  ibcast<T>(value: T | null | undefined, options?: Rooted): Request<T>;
  ibcast(data: unknown, { root = 0 }: Rooted = {}): Request<unknown> {
    return this.#request(this.#moves.bcastValue(data, root));
  }

  igather<T extends TypedArray>(data: Sent<T>, options?: RootedInto<T>): Request<T | null>;
  igather<T>(value: T, options?: Rooted): Request<T[] | null>;
  igather(data: unknown, { root = 0, into }: RootedInto<TypedArray> = {}): Request<unknown> {
    return this.#request(this.#moves.gatherValue(data, root, into));
  }

  igatherv<T extends TypedArray>(data: Sent<T>, options: RootedVInto<T> = {}): Request<T | null> {
    return this.#request(this.#moves.gatherv(data, options.root ?? 0, partLayoutOf(options), options.into));
  }

  iscatter<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterInto<T>): Request<T>;
  iscatter<T>(values: readonly T[] | null | undefined, options?: Rooted): Request<T>;
  iscatter(data: unknown, { root = 0, into }: Rooted & { into?: Sent<TypedArray> } = {}): Request<unknown> {
    return this.#request(this.#moves.scatterValue(data, root, into));
  }

  iscatterv<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterVInto<T>): Request<T> {
    const { root = 0, into } = options;
    return this.#request(this.#moves.scatterv(data, root, partLayoutOf(options), into) as Started<T>);
  }

  iallgather<T extends TypedArray>(data: Sent<T>, options?: Into<T>): Request<T>;
  iallgather<T>(value: T): Request<T[]>;
  iallgather(data: unknown, { into }: Into<TypedArray> = {}): Request<unknown> {
    return this.#request(this.#moves.allgatherValue(data, into));
  }

  iallgatherv<T extends TypedArray>(data: Sent<T>, options: VInto<T>): Request<T> {
    return this.#request(this.#moves.allgatherv(data, options, options.into));
  }

  ialltoall<T extends TypedArray>(data: Sent<T>, options?: Into<T>): Request<T>;
  ialltoall<T>(values: readonly T[]): Request<T[]>;
  ialltoall(data: unknown, { into }: Into<TypedArray> = {}): Request<unknown> {
    return this.#request(this.#moves.alltoallValue(data, into));
  }

  ialltoallv<T extends TypedArray>(data: Sent<T>, options: AlltoallVInto<T>): Request<T> {
    return this.#request(this.#moves.alltoallv(data, layoutsOf(options), options.into));
  }

  ialltoallw<P extends ArrayParts>(parts: ArrayParts | InPlace, { into }: { readonly into: P }): Request<P> {
    return this.#request(this.#moves.alltoallw(parts, into) as Started<P>);
  }

  ireduce<T extends TypedArray>(data: Sent<T> | null, op: OpLike, options: RootedInto<T> = {}): Request<T | null> {
    return this.#request(this.#reductions.reduce({ data, op, into: options.into }, options.root ?? 0));
  }

  iallreduce<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T> {
    return this.#request(this.#reductions.allreduce({ data, op, into }));
  }

  ireduceScatter<T extends TypedArray>(data: Sent<T>, op: OpLike, { counts, into }: CountsInto<T>): Request<T> {
    return this.#request(this.#reductions.reduceScatter({ data, op, into }, counts));
  }

  ireduceScatterBlock<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T> {
    return this.#request(this.#reductions.reduceScatterBlock({ data, op, into }));
  }

  iscan<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T> {
    return this.#request(this.#reductions.scan({ data, op, into }));
  }

  iexscan<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): Request<T | null> {
    return this.#request(this.#reductions.exscan({ data, op, into }));
  }

  // Persistent collectives, §6.13: made once, in the same order on all ranks, then started again and again, in any order.
  // Arrays are read when the operation is started; without `into` every start makes a new array for its result.

  barrierInit(): PersistentRequest {
    return this.#persistent((tag) => this.#moves.barrier(tag));
  }

  bcastInit<T extends BufferLike>(data: T, { root = 0 }: Rooted = {}): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.bcast(data, root, tag));
  }

  gatherInit<T extends TypedArray>(data: Sent<T> | null, options: RootedInto<T> = {}): PersistentRequest<T | null> {
    const { root = 0, into } = options;
    return this.#persistent((tag) => this.#moves.gather(data, root, into, tag));
  }

  gathervInit<T extends TypedArray>(data: Sent<T> | null, options: RootedVInto<T> = {}): PersistentRequest<T | null> {
    const { root = 0, into } = options;
    return this.#persistent((tag) => this.#moves.gatherv(data, root, partLayoutOf(options), into, tag));
  }

  scatterInit<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterInto<T>): PersistentRequest<T> {
    const { root = 0, into } = options;
    return this.#persistent((tag) => this.#moves.scatter(data, root, into, tag) as Started<T>);
  }

  scattervInit<T extends TypedArray>(data: BufferLike<T> | null, options: ScatterVInto<T>): PersistentRequest<T> {
    const { root = 0, into } = options;
    return this.#persistent((tag) => this.#moves.scatterv(data, root, partLayoutOf(options), into, tag) as Started<T>);
  }

  allgatherInit<T extends TypedArray>(data: Sent<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.allgather(data, into, tag));
  }

  allgathervInit<T extends TypedArray>(data: Sent<T>, options: VInto<T>): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.allgatherv(data, options, options.into, tag));
  }

  alltoallInit<T extends TypedArray>(data: Sent<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.alltoall(data, into, tag));
  }

  alltoallvInit<T extends TypedArray>(data: Sent<T>, options: AlltoallVInto<T>): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.alltoallv(data, layoutsOf(options), options.into, tag));
  }

  alltoallwInit<P extends ArrayParts>(
    parts: ArrayParts | InPlace,
    { into }: { readonly into: P },
  ): PersistentRequest<P> {
    return this.#persistent((tag) => this.#moves.alltoallw(parts, into, tag) as Started<P>);
  }

  reduceInit<T extends TypedArray>(
    data: Sent<T> | null,
    op: OpLike,
    { root = 0, into }: RootedInto<T> = {},
  ): PersistentRequest<T | null> {
    return this.#persistent((tag) => this.#reductions.reduce({ data, op, into }, root, tag));
  }

  allreduceInit<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.#persistent((tag) => this.#reductions.allreduce({ data, op, into }, tag));
  }

  reduceScatterInit<T extends TypedArray>(data: Sent<T>, op: OpLike, options: CountsInto<T>): PersistentRequest<T> {
    const { counts, into } = options;
    return this.#persistent((tag) => this.#reductions.reduceScatter({ data, op, into }, counts, tag));
  }

  reduceScatterBlockInit<T extends TypedArray>(data: Sent<T>, op: OpLike, options: Into<T> = {}): PersistentRequest<T> {
    const { into } = options;
    return this.#persistent((tag) => this.#reductions.reduceScatterBlock({ data, op, into }, tag));
  }

  scanInit<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.#persistent((tag) => this.#reductions.scan({ data, op, into }, tag));
  }

  exscanInit<T extends TypedArray>(data: Sent<T>, op: OpLike, { into }: Into<T> = {}): PersistentRequest<T | null> {
    return this.#persistent((tag) => this.#reductions.exscan({ data, op, into }, tag));
  }

  // Collectives among the neighbours of a topology, §8.6: blocks are in the order of the topology's neighbours. What would come
  // from PROC_NULL, beyond the edge of a grid, stays as it was in `into`, zero in a new array.

  /** The elements go to every destination; the result has those of every source. */
  neighborAllgather<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): T {
    return this.#run("neighborAllgather", () => this.#moves.neighborAllgather(data, into));
  }

  neighborAllgatherv<T extends TypedArray>(data: BufferLike<T>, options: VInto<T>): T {
    return this.#run("neighborAllgatherv", () => this.#moves.neighborAllgatherv(data, options, options.into));
  }

  /** Part i of the elements goes to destination i; part i of the result comes from source i. */
  neighborAlltoall<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): T {
    return this.#run("neighborAlltoall", () => this.#moves.neighborAlltoall(data, into));
  }

  neighborAlltoallv<T extends TypedArray>(data: BufferLike<T>, options: AlltoallVInto<T>): T {
    return this.#run("neighborAlltoallv", () => this.#moves.neighborAlltoallv(data, layoutsOf(options), options.into));
  }

  neighborAlltoallw<P extends ArrayParts>(parts: ArrayParts, { into }: { readonly into: P }): P {
    return this.#run("neighborAlltoallw", () => this.#moves.neighborAlltoallw(parts, into));
  }

  ineighborAllgather<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): Request<T> {
    return this.#request(this.#moves.neighborAllgather(data, into));
  }

  ineighborAllgatherv<T extends TypedArray>(data: BufferLike<T>, options: VInto<T>): Request<T> {
    return this.#request(this.#moves.neighborAllgatherv(data, options, options.into));
  }

  ineighborAlltoall<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): Request<T> {
    return this.#request(this.#moves.neighborAlltoall(data, into));
  }

  ineighborAlltoallv<T extends TypedArray>(data: BufferLike<T>, options: AlltoallVInto<T>): Request<T> {
    return this.#request(this.#moves.neighborAlltoallv(data, layoutsOf(options), options.into));
  }

  ineighborAlltoallw<P extends ArrayParts>(parts: ArrayParts, { into }: { readonly into: P }): Request<P> {
    return this.#request(this.#moves.neighborAlltoallw(parts, into));
  }

  neighborAllgatherInit<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.neighborAllgather(data, into, tag));
  }

  neighborAllgathervInit<T extends TypedArray>(data: BufferLike<T>, options: VInto<T>): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.neighborAllgatherv(data, options, options.into, tag));
  }

  neighborAlltoallInit<T extends TypedArray>(data: BufferLike<T>, { into }: Into<T> = {}): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.neighborAlltoall(data, into, tag));
  }

  neighborAlltoallvInit<T extends TypedArray>(data: BufferLike<T>, options: AlltoallVInto<T>): PersistentRequest<T> {
    return this.#persistent((tag) => this.#moves.neighborAlltoallv(data, layoutsOf(options), options.into, tag));
  }

  neighborAlltoallwInit<P extends ArrayParts>(parts: ArrayParts, { into }: { readonly into: P }): PersistentRequest<P> {
    return this.#persistent((tag) => this.#moves.neighborAlltoallw(parts, into, tag));
  }

  // Members, and new communicators: chapter 7

  get isInter(): boolean {
    return this.core.isInter;
  }

  /** Size of the other side of an inter-communicator. */
  get remoteSize(): number {
    return this.#guard(() => remoteOf(this, "find the size of")).size;
  }

  group(): Group {
    return new Group(this.#environment, this.core.group);
  }

  remoteGroup(): Group {
    return new Group(
      this.#environment,
      this.#guard(() => remoteOf(this, "find")),
    );
  }

  /** IDENT, CONGRUENT (same members in the same order), SIMILAR (in another order) or UNEQUAL. */
  compare(other: Communicator): number {
    return this.core.compare(other.core);
  }

  /** The same members, a context of its own; attributes are copied as their keyvals say, topology and info as they are. */
  dup(): Communicator {
    return this.dupWithInfo(this.#state.info);
  }

  idup(): Request<Communicator> {
    return this.idupWithInfo(this.#state.info);
  }

  dupWithInfo(info: InfoLike): Communicator {
    const heritage = this.#heritageOfDuplicate(info);
    return this.#made(new Duplicate(this.#open("duplicate")), heritage);
  }

  idupWithInfo(info: InfoLike): Request<Communicator> {
    const heritage = this.#heritageOfDuplicate(info);
    return this.#makeLater(new Duplicate(this.#open("duplicate")), heritage);
  }

  /** One communicator for each colour, ordered by key, then by rank; colour UNDEFINED: none. */
  split(color: number, key = 0): Communicator | null {
    this.#open("split");
    return this.#make(this.#prepare(() => splitTask(this.#process, this, color, key)));
  }

  /** One communicator for each node; null where the standard lets us say that there is nothing finer. */
  splitType(type: CommType | typeof UNDEFINED, { key = 0, info = {} }: { key?: number; info?: InfoLike } = {}) {
    this.#open("split");
    const resource = this.#guard(() => infoOf(info)).get(resourceKey);
    return this.#make(this.#prepare(() => splitTypeTask(this.#process, this, { type, key, resource })));
  }

  /** The members of `group`, in its order. All of this communicator call; groups of different callers may be disjoint. */
  create(group: Group): Communicator | null {
    this.#open("make a communicator");
    return this.#make(this.#prepare(() => createTask(this.#process, this, group.core)));
  }

  /** As `create`, but only the members call. */
  createGroup(group: Group, { tag = 0 }: { tag?: number } = {}): Communicator | null {
    this.#open("make a communicator");
    const task = this.#guard(() => createGroupTask(this.#process, this, group.core, tag));
    return task === null ? null : this.#make(task);
  }

  /** Two groups face each other: MPI_Intercomm_create. */
  createInter({ leader = 0, bridge, remoteLeader, tag = 0 }: InterOptions): Communicator {
    this.#open("make an inter-communicator");
    const options = { leader, bridge: bridge?.core ?? null, remoteLeader, tag };
    return this.#made(this.#guard(() => createInterTask(this, options)));
  }

  /** Both sides of an inter-communicator as one; the side that says `high` comes second: MPI_Intercomm_merge. */
  merge({ high = false }: { high?: boolean } = {}): Communicator {
    this.#open("merge");
    return this.#made(this.#prepare(() => mergeTask(this.#process, this, high)));
  }

  /** Nothing new can be started here; operations under way go on: MPI_Comm_free. */
  free(): void {
    const core = this.#mortal("free");
    this.#guard(() => this.#state.attributes.clear());
    this.#environment.operations.freeCommunicator(core);
  }

  /** As `free`, after the operations under way here have ended: MPI_Comm_disconnect. */
  disconnect(): void {
    const core = this.#mortal("disconnect");
    const { operations } = this.#environment;
    operations.waitUntil(() => !operations.isUsing(core));
    operations.disconnect(core);
    this.free();
  }

  // Processes that are started while the job runs: chapter 11

  /**
   * Starts processes that run `program`, and gives the inter-communicator of this group and theirs, whose other end is their
   * `mpi.parent`. All members call; the root's arguments count.
   */
  spawn(program: string | URL, options: SpawnOptions & { readonly root?: number } = {}): Communicator {
    return this.spawnMultiple([{ program, ...options }], options);
  }

  /** As `spawn`, of several programs or with several arguments: one world, in the order of the list. */
  spawnMultiple(programs: readonly SpawnedProgram[], { root = 0 }: { readonly root?: number } = {}): Communicator {
    this.#open("spawn");
    return this.#adopt(
      this.#guard(() => spawn(this.#environment, this, root, programs)),
      {},
    );
  }

  // Name, attributes and info: §7.7, §7.8

  get name(): string {
    return this.#state.name;
  }

  set name(name: string) {
    this.#guard(() => this.#state.rename(name));
  }

  getAttribute(keyval: Keyval): unknown {
    return this.#guard(() => this.#state.attributes.get(keyval));
  }

  setAttribute(keyval: Keyval, value: unknown): void {
    this.#guard(() => this.#state.attributes.set(keyval, value));
  }

  deleteAttribute(keyval: Keyval): void {
    this.#guard(() => this.#state.attributes.delete(keyval));
  }

  /** A copy of the hints in use. */
  getInfo(): Info {
    return new Info(this.#environment, this.#state.info);
  }

  setInfo(info: InfoLike): void {
    this.#state.info = this.#guard(() => infoOf(info));
  }

  // Topologies: chapter 8. Ranks are never reordered, which the standard leaves open

  /** CART, GRAPH, DIST_GRAPH or UNDEFINED. */
  get topology(): number {
    return this.core.topology?.kind ?? UNDEFINED;
  }

  /** The ranks that this one receives from and sends to in neighbourhood collectives. */
  get neighbors(): Neighbours {
    const { topology, rank } = this.core;
    if (topology !== null) return this.#guard(() => topology.neighbours(rank));
    const message = `Cannot look at the neighbours: communicator ${this.label} has none`;
    return this.raise(new MpiError(ErrorClass.TOPOLOGY, message));
  }

  /** A grid of ranks in row-major order; dimensions with a period are rings. Ranks beyond the grid get null. */
  cartCreate(
    dims: readonly number[],
    { periods = dims.map(() => false) }: { periods?: readonly boolean[]; reorder?: boolean } = {},
  ): Communicator | null {
    const topology = this.#prepare(() => new CartesianTopology(dims, periods, ranksFor(this)));
    return this.#make(createFirst(this, topology), { topology });
  }

  cartCoords(rank = this.rank): number[] {
    return this.#guard(() => gridOf(this).coordinates(rank));
  }

  /** Coordinates of a ring wrap round. */
  cartRank(coords: readonly number[]): number {
    return this.#guard(() => gridOf(this).rank(coords));
  }

  /** The ranks to receive from and to send to so that everything moves on by `displacement`; PROC_NULL at an end. */
  cartShift(direction: number, displacement = 1): { source: number; dest: number } {
    const { source, destination } = this.#guard(() => gridOf(this).shift(this.rank, direction, displacement));
    return { source, dest: destination };
  }

  /** The slices of the grid in which the dimensions that `remain` stay. */
  cartSub(remain: readonly boolean[]): Communicator {
    const { color, key, topology } = this.#prepare(() => gridOf(this).sub(this.rank, remain));
    return this.#made(new Split(this.core, color, key), { topology });
  }

  cartGet(): Grid {
    const { dims, periods } = this.#guard(() => gridOf(this));
    return { dims, periods, coords: this.cartCoords() };
  }

  /** The rank that this process would have in such a grid, UNDEFINED beyond it. */
  cartMap(dims: readonly number[], periods: readonly boolean[] = dims.map(() => false)): number {
    return this.#guard(() => new CartesianTopology(dims, periods, this.size)).map(this.rank);
  }

  /** `index[i]`: how many edges nodes 0 to i have together; `edges`: where they lead, node by node. */
  graphCreate(index: readonly number[], edges: readonly number[], _options?: { reorder?: boolean }) {
    const topology = this.#prepare(() => new GraphTopology(index, edges, ranksFor(this)));
    return this.#make(createFirst(this, topology), { topology });
  }

  graphGet(): { index: readonly number[]; edges: readonly number[] } {
    const { index, edges } = this.#guard(() => graphOf(this));
    return { index, edges };
  }

  graphNeighbors(rank = this.rank): readonly number[] {
    return this.#guard(() => graphOf(this).neighboursOf(rank));
  }

  graphMap(index: readonly number[], edges: readonly number[]): number {
    return this.#guard(() => new GraphTopology(index, edges, this.size)).map(this.rank);
  }

  /** Each rank names its own neighbours. */
  distGraphCreateAdjacent(adjacent: Adjacent, _options?: { reorder?: boolean }): Communicator {
    const topology = this.#prepare(() => new DistGraphTopology(adjacent, ranksFor(this)));
    return this.#made(new Duplicate(this.core), { topology });
  }

  /** Any rank may bring any edges; they are brought together first. */
  distGraphCreate(edges: Contribution, _options?: { reorder?: boolean }): Communicator {
    const own = this.#prepare(() => edgesOf(edges, ranksFor(this)));
    return this.#made(new CreateDistGraph(this.core, own, edges.weights !== undefined));
  }

  distGraphNeighbors(): Adjacent {
    const { sources, destinations, sourceWeights, destinationWeights } = this.#guard(() => distGraphOf(this));
    return { sources, destinations, sourceWeights, destinationWeights };
  }

  // Errors: chapter 9

  /** Sets the handler of errors of calls on this communicator. Communicators made from it start with the same. */
  setErrorHandler(handler: ErrorHandler<Communicator>): void {
    this.#guard(() => this.#state.setErrorHandler(handler));
  }

  getErrorHandler(): ErrorHandler<Communicator> {
    const { errorHandler } = this.#state;
    return errorHandler.kind === "user" ? errorHandler.callback : errorHandler;
  }

  /** Gives an error to the error handler, as a failed call would, but throws nothing. */
  callErrorHandler(error: MpiError | number): void {
    const textOf = (code: number) => this.#guard(() => this.#environment.errorCodes.stringOf(code));
    this.#state.handle(typeof error === "number" ? new MpiError(error, textOf(error)) : error);
  }

  // Going on after a failure, by the means of ULFM. (Where the job survives deaths: `mpi.KEYVALS.FT`.)

  /** Ends everything on this communicator with `ERR.REVOKED`, in every member: operations under way and those started later. */
  revoke(): void {
    this.#environment.operations.revoke(this.#open("revoke"));
  }

  /** Has any member revoked it, as far as this one has heard? */
  get isRevoked(): boolean {
    const { operations } = this.#environment;
    if (!operations.isRevoked(this.core)) operations.look();
    return operations.isRevoked(this.core);
  }

  /** A communicator of the members that live, in their order; also of one that is revoked. All that live call. */
  shrink(): Communicator {
    return this.#made(new Shrink(this.#open("shrink")));
  }

  ishrink(): Request<Communicator> {
    return this.#makeLater(new Shrink(this.#open("shrink")));
  }

  /**
   * The bits that all members have set in their `flags`, 32 at most: the same for every member that gets an answer,
   * whichever die meanwhile. Throws an `AgreementError`, which has them too, while a member has not acknowledged the dead.
   */
  agree(flags: number): number {
    return this.iagree(flags).wait();
  }

  iagree(flags: number): Request<number> {
    if (!Number.isInteger(flags)) {
      this.raise(new MpiError(ErrorClass.ARG, `Cannot agree on ${flags}: flags are a whole number`));
    }
    const task = new Agree(this.#open("agree"), flags | 0);
    return this.#request({ record: this.#environment.operations.startTask(task), after: new AgreementOutcome(task) });
  }

  /** The members that are known to be dead, in the order in which they died. */
  failed(): Group {
    return new Group(this.#environment, this.#environment.operations.failedOf(this.core));
  }

  /**
   * The program knows of the first `count` of `failed()`: they do not keep it from receiving from ANY_SOURCE any more, nor
   * from agreeing. How many it knows of now.
   */
  ackFailed(count = this.failed().size): number {
    if (!Number.isInteger(count) || count < 0) {
      this.raise(new MpiError(ErrorClass.ARG, `Cannot acknowledge ${count} failures: counts are whole numbers from 0`));
    }
    return this.#environment.operations.acknowledge(this.core, count);
  }

  /** Those of `failed()` that are acknowledged. */
  acknowledged(): Group {
    return new Group(this.#environment, this.#environment.operations.acknowledgedOf(this.core));
  }

  // For other files of this folder

  /** The communicator's name in messages to people. */
  get label(): string {
    return this.#state.label;
  }

  raise(error: MpiError): never {
    this.#collectives.endTrace();
    this.#state.handle(error);
    throw error;
  }

  /** The rank is ending: MPI_Finalize deletes the attributes of `self` first. */
  finalize(): void {
    this.#guard(() => this.#state.attributes.clear());
  }

  // Inside

  get #process() {
    return this.#environment.host.process;
  }

  get #moves() {
    return this.#collectives.movement;
  }

  get #reductions() {
    return this.#collectives.reduction;
  }

  #run<T>(name: string, start: () => Started<T>, data?: unknown, root?: number): T {
    return this.#collectives.run(name, start, data, root);
  }

  #request<T>(started: Started<T>): Request<T> {
    return this.#collectives.request(started);
  }

  #persistent<T>(start: (tag: number) => Started<T>): PersistentRequest<T> {
    return this.#collectives.persistent(start);
  }

  /** Runs `call`; mistakes of the program in it go to the error handler. */
  #guard<T>(call: () => T): T {
    return guarded(this, call);
  }

  #open(verb: string): CoreCommunicator {
    this.#guard(() => checkOpen(this, verb));
    return this.core;
  }

  #mortal(verb: string): CoreCommunicator {
    const core = this.#open(verb);
    this.#guard(() => checkMortal(this.#process, this, verb));
    return core;
  }

  /** Checks of a function that makes a communicator. One that is refused counts all the same: the other ranks may have called it. */
  #prepare<T>(checks: () => T): T {
    return this.#guard(() => {
      try {
        return checks();
      } catch (error) {
        if (error instanceof MpiError && !this.core.freed) this.#environment.operations.refuse(this.core);
        throw error;
      }
    });
  }

  /** Runs a task that makes a communicator; null for ranks that are no members. */
  #make(task: NewCommunicator, heritage: Heritage = {}): Communicator | null {
    const { operations } = this.#environment;
    const record = operations.startTask(task);
    if (!operations.isComplete(record)) operations.wait(record);
    operations.end(record);
    const { error } = task;
    if (error !== 0) this.raise(this.core.takeDisagreement(error) ?? errorOf(new Status(-1, -2, 0, error)));
    return task.result === null ? null : this.#adopt(task.result, heritage);
  }

  /** The same for tasks that give every rank a communicator. */
  #made(task: NewCommunicator, heritage?: Heritage): Communicator {
    return this.#make(task, heritage)!;
  }

  #makeLater(task: NewCommunicator, heritage: Heritage = {}): Request<Communicator> {
    const record = this.#environment.operations.startTask(task);
    const finish = ({ error }: Status) => (error === 0 ? this.#adopt(task.result!, heritage) : undefined);
    return this.#request({ record, after: { finish } });
  }

  /** The properties that a duplicate has in common with this communicator. */
  #heritageOfDuplicate(info: InfoLike): Heritage {
    const hints = new Info(
      this.#environment,
      this.#guard(() => infoOf(info)),
    );
    return { topology: this.core.topology, attributesFrom: this, info: hints };
  }

  /** The program's communicator for one of the core's. */
  #adopt(core: CoreCommunicator, { topology, attributesFrom, info }: Heritage): Communicator {
    if (topology !== undefined) core.topology = topology;
    const attributes = this.#copiedAttributes(core, attributesFrom);
    return new Communicator(this.#environment, core, {
      errorHandler: this.#state.errorHandler,
      ...(attributes === undefined ? {} : { attributes }),
      ...(info === undefined ? {} : { info }),
    });
  }

  /** A copy callback that fails takes the new communicator with it. */
  #copiedAttributes(core: CoreCommunicator, from: Communicator | undefined) {
    return this.#guard(() => {
      try {
        return from === undefined ? undefined : from.#state.attributes.dup();
      } catch (error) {
        this.#environment.operations.freeCommunicator(core);
        throw error;
      }
    });
  }
}
