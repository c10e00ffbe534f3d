/** One collective of a script as one rank calls it: its buffers, what it contributes, what it gets. */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { R_ERROR } from "../../core/request/records.ts";
import { layoutOf, type Moving } from "../script/collective-blocks.ts";
import { firstDifference, type Images, imagesBefore, receivedAfter } from "../script/collective-images.ts";
import { type CollectivePlan, isEqual, isInPlace, isNeighbor, isReducing, rootFor } from "../script/collective-plan.ts";
import { elementWords, type Reducing, segmentsOf, vectorLength } from "../script/collective-vectors.ts";
import { type CommunicatorPlan, sideOf } from "../script/communicator-plan.ts";
import { exactReductions } from "../script/reductions.ts";
import type { Buffer } from "./buffer.ts";
import type { Pending, RankState } from "./rank-state.ts";

export function startCollective(state: RankState, number: number): Pending {
  const call = new CollectiveCall(state, number);
  call.prepare(number);
  const record = call.start(undefined);
  const { engine } = state.core;
  const end = (): void => {
    call.note(engine.records.get(record, R_ERROR));
    engine.giveBack(record);
    call.free();
  };
  return { record, end };
}

export class CollectiveCall {
  readonly #state: RankState;
  readonly #comm: Communicator;
  readonly #commPlan: CommunicatorPlan;
  #plan: CollectivePlan;
  readonly #send: Buffer;
  readonly #receive: Buffer;
  /** What lies in the buffers before the call. */
  #before: Images;
  /** Lent for the call that is under way. */
  #pointers: readonly Pointer[] = [];

  /** The buffers of the collective with that number, and of all that have its shape. */
  constructor(state: RankState, number: number) {
    this.#state = state;
    this.#plan = state.script.collectives[number]!;
    this.#comm = state.communicator(this.#plan.communicator);
    this.#commPlan = state.plan(this.#plan.communicator);
    this.#before = imagesBefore(this.#plan, this.#commPlan, state.rank);
    const { send, receive } = this.#before;
    // Kernels of reductions see one memory, so what they combine is never lent.
    const lent = this.#plan.lent && !isReducing(this.#plan.kind);
    this.#send = state.buffer(send.length, lent);
    this.#receive = state.buffer(receive.length, lent);
  }

  /** It will be called as the collective with that number: what it contributes is written into the buffers. */
  prepare(number: number): void {
    const plan = this.#state.script.collectives[number]!;
    if (plan !== this.#plan) this.#before = imagesBefore(plan, this.#commPlan, this.#state.rank);
    this.#plan = plan;
    this.#send.view.set(this.#before.send);
    this.#receive.view.set(this.#before.receive);
  }

  start(tag: number | undefined): RecordId {
    const [send, receive] = [this.#send.pointer(), this.#receive.pointer()];
    this.#pointers = [send, receive];
    const plan = this.#plan;
    if (isReducing(plan.kind)) return this.#startReducing(plan as Reducing, send, receive, tag);
    if (isEqual(plan.kind)) {
      const call = { ...this.#place(), bytes: 4 * plan.count, tag };
      return this.#state.core.collectives.startEqual(this.#comm, plan.kind, send, receive, call);
    }
    return this.#startMoving(plan as Moving, send, receive, tag);
  }

  /** It has ended: what lies in the buffers is compared with what should. The loans end here, no request holds them. */
  note(error: number): void {
    const { rank, observation } = this.#state;
    for (const [buffer, pointer] of [
      [this.#send, this.#pointers[0]!],
      [this.#receive, this.#pointers[1]!],
    ] as const) {
      buffer.giveBack(pointer);
    }
    const wrongSent = firstDifference(this.#send.view, this.#before.send);
    const { image, certainBytes } = receivedAfter(this.#plan, this.#commPlan, rank, this.#before);
    observation.collectives.push({
      collective: this.#plan.number,
      rank,
      error,
      wrongReceived: firstDifference(this.#receive.view, image, certainBytes),
      wrongSent,
    });
  }

  free(): void {
    this.#send.free();
    this.#receive.free();
  }

  /** Where this rank stands, and what it says of the root and of the place of its contribution. */
  #place() {
    const { rank } = this.#state;
    return {
      ...this.#comm.place,
      root: rootFor(this.#plan, this.#commPlan, rank),
      inPlace: isInPlace(this.#plan, rank),
    };
  }

  #startReducing(plan: Reducing, send: Pointer, receive: Pointer, tag: number | undefined): RecordId {
    const { collectives } = this.#state.core;
    const reduction = exactReductions[plan.reduction];
    const bytesOf = (elements: number): number => 4 * elementWords(plan) * elements;
    const segments = segmentsOf(plan, this.#commPlan, sideOf(this.#commPlan, this.#state.rank)).map(bytesOf);
    if (plan.kind === "reduce_scatter") {
      const { elementBytes } = reduction;
      const collective = { kind: plan.kind, ...this.#place(), segments, elementBytes } as const;
      return collectives.start(this.#comm, collective, send, receive, reduction, tag);
    }
    const isShared = plan.kind === "reduce_scatter_block";
    const bytes = isShared ? segments[0]! : bytesOf(vectorLength(plan, this.#commPlan));
    const call = { ...this.#place(), bytes, tag };
    return collectives.startReduction(this.#comm, plan.kind, send, receive, call, reduction);
  }

  /** The forms whose blocks have lengths and places of their own, and those among neighbours. */
  #startMoving(plan: Moving, send: Pointer, receive: Pointer, tag: number | undefined): RecordId {
    const { collectives } = this.#state.core;
    const comm = this.#comm;
    const { sends, receives } = layoutOf(plan, this.#commPlan, this.#state.rank);
    if (isNeighbor(plan.kind)) {
      const { sources, destinations } = comm.topology!.neighbours(comm.rank);
      const hood = { rank: comm.rank, sources, destinations, cartesian: this.#isGrid };
      const collective = plan.kind.startsWith("neighbor_allgather")
        ? ({ kind: "neighbor_allgatherv", ...hood, bytes: sends.bytes[0]!, receives } as const)
        : ({ kind: "neighbor_alltoallv", ...hood, sends, receives } as const);
      return collectives.startNeighbor(comm, collective, send, receive, tag);
    }
    const place = { ...this.#place(), nodes: comm.nodeMap };
    const start = (collective: Parameters<typeof collectives.start>[1]): RecordId =>
      collectives.start(comm, collective, send, receive, null, tag);
    const isRoot = this.#state.rank === plan.root;
    switch (plan.kind) {
      case "gatherv":
        return start({ kind: "gatherv", ...place, bytes: sends.bytes[0] ?? 0, blocks: isRoot ? receives : undefined });
      case "scatterv": {
        const bytes = receives.bytes[0] ?? 0;
        return start({ kind: "scatterv", ...place, bytes, blocks: isRoot ? sends : undefined });
      }
      case "allgatherv":
        return start({ kind: "allgatherv", ...place, bytes: sends.bytes[0]!, blocks: receives });
      default:
        return start({ kind: "alltoallv", ...place, sends, receives });
    }
  }

  get #isGrid(): boolean {
    return this.#commPlan.topology?.kind === "grid";
  }
}
