/** One collective of a script as one rank calls it: its buffers, its contribution, its result. */
import type { Pointer, RecordId } from "../../core/base/brand.ts";
import { saves } from "../../core/base/saved-classes.ts";
import type { CollectiveForm } from "../../core/process/collective-form.ts";
import type { Communicator } from "../../core/process/communicator.ts";
import { R_ERROR } from "../../core/request/records.ts";
import { blockPlacesOf, type MovingPlan } from "../script/collective-blocks.ts";
import { firstDifference, type Images, imagesBefore, receivedAfter } from "../script/collective-images.ts";
import { type CollectivePlan, isEqual, isInPlace, isNeighbor, isReducing, rootFor } from "../script/collective-plan.ts";
import { elementWords, type Reducing, segmentsOf, vectorLength } from "../script/collective-vectors.ts";
import { sideOf } from "../script/communicator-plan.ts";
import { exactReductions } from "../script/reductions.ts";
import type { Steps } from "../sim-process.ts";
import type { Buffer } from "./buffer.ts";
import type { Doing, Pending, ScriptState } from "./script-state.ts";

/** A collective with buffers of its own. */
class PendingCollective implements Pending {
  readonly record: RecordId;
  private readonly call: ScriptedCollective;

  constructor(call: ScriptedCollective, record: RecordId) {
    this.call = call;
    this.record = record;
  }

  end(state: ScriptState): void {
    const { engine } = state.core;
    this.call.note(state, engine.records.get(this.record, R_ERROR));
    engine.giveBack(this.record);
    this.call.free();
  }
}

export function startCollective(state: ScriptState, number: number): Pending {
  const call = new ScriptedCollective(state, number);
  call.prepare(state, number);
  return new PendingCollective(call, call.start(state, "nonblocking"));
}

/** Blocking, for all members alike: it may run on a board. */
export class CollectiveNow implements Doing {
  private readonly collective: number;
  private pending: PendingCollective | null = null;

  constructor(collective: number) {
    this.collective = collective;
  }

  /** Does the call wait for other ranks where there is a board for it? */
  meets(state: ScriptState): boolean {
    const { communicator } = state.script.collectives[this.collective]!;
    return this.pending !== null && state.communicator(communicator).board !== null;
  }

  *run(state: ScriptState): Steps {
    if (this.pending === null) {
      const call = new ScriptedCollective(state, this.collective);
      call.prepare(state, this.collective);
      this.pending = new PendingCollective(call, call.start(state, "blocking"));
    }
    yield this.pending.record;
    this.pending.end(state);
  }
}

export class ScriptedCollective {
  private readonly comm: Communicator;
  private number: number;
  private readonly send: Buffer;
  private readonly receive: Buffer;
  /** Contents of the buffers before the call. */
  private before: Images;
  /** Loans of the running call. */
  private pointers: readonly Pointer[] = [];

  /** The buffers of the collective with that number, and of all with its shape. */
  constructor(state: ScriptState, number: number) {
    const plan = state.script.collectives[number]!;
    this.number = number;
    this.comm = state.communicator(plan.communicator);
    this.before = imagesBefore(plan, state.plan(plan.communicator), state.rank);
    const { send, receive } = this.before;
    // Kernels of reductions see one memory, so their operands are never lent.
    const lent = plan.lent && !isReducing(plan.kind);
    this.send = state.buffer(send.length, lent);
    this.receive = state.buffer(receive.length, lent);
  }

  /** The next call is the collective with that number: writes the contribution into the buffers. */
  prepare(state: ScriptState, number: number): void {
    const plan = state.script.collectives[number]!;
    if (number !== this.number) this.before = imagesBefore(plan, state.plan(plan.communicator), state.rank);
    this.number = number;
    this.send.view.set(this.before.send);
    this.receive.view.set(this.before.receive);
  }

  start(state: ScriptState, form: CollectiveForm): RecordId {
    const [send, receive] = [this.send.pointer(), this.receive.pointer()];
    this.pointers = [send, receive];
    const plan = this.planOf(state);
    if (isReducing(plan.kind)) return this.startReducing(state, plan as Reducing, send, receive, form);
    if (isEqual(plan.kind)) {
      const call = { ...this.place(state), bytes: 4 * plan.count, form };
      return state.core.collectives.startEqual(this.comm, plan.kind, send, receive, call);
    }
    return this.startMoving(state, plan as MovingPlan, send, receive, form);
  }

  /** The call has ended: compares the buffers with the right contents. The loans end here, no request holds them. */
  note(state: ScriptState, error: number): void {
    const { rank, observation } = state;
    const plan = this.planOf(state);
    for (const [buffer, pointer] of [
      [this.send, this.pointers[0]!],
      [this.receive, this.pointers[1]!],
    ] as const) {
      buffer.giveBack(pointer);
    }
    const wrongSent = firstDifference(this.send.view, this.before.send);
    const { image, certainBytes } = receivedAfter(plan, state.plan(plan.communicator), rank, this.before);
    observation.collectives.push({
      collective: plan.number,
      rank,
      error,
      wrongReceived: firstDifference(this.receive.view, image, certainBytes),
      wrongSent,
    });
    if (error !== 0) state.giveUp();
  }

  free(): void {
    this.send.free();
    this.receive.free();
  }

  /** The rank's place, and its arguments for the root and IN_PLACE. */
  private place(state: ScriptState) {
    const { rank } = state;
    const plan = this.planOf(state);
    return {
      ...this.comm.place,
      root: rootFor(plan, state.plan(plan.communicator), rank),
      inPlace: isInPlace(plan, rank),
    };
  }

  private planOf({ script }: ScriptState): CollectivePlan {
    return script.collectives[this.number]!;
  }

  private startReducing(
    state: ScriptState,
    plan: Reducing,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId {
    const { collectives } = state.core;
    const commPlan = state.plan(plan.communicator);
    const reduction = exactReductions[plan.reduction];
    const bytesOf = (elements: number): number => 4 * elementWords(plan) * elements;
    const segments = segmentsOf(plan, commPlan, sideOf(commPlan, state.rank)).map(bytesOf);
    if (plan.kind === "reduce_scatter") {
      const { elementBytes } = reduction;
      const collective = { kind: plan.kind, ...this.place(state), segments, elementBytes } as const;
      return collectives.start(this.comm, collective, send, receive, reduction, form);
    }
    const isShared = plan.kind === "reduce_scatter_block";
    const bytes = isShared ? segments[0]! : bytesOf(vectorLength(plan, commPlan));
    const call = { ...this.place(state), bytes, form };
    return collectives.startReduction(this.comm, plan.kind, send, receive, call, reduction);
  }

  /** The forms whose blocks have lengths and places of their own, and the neighbourhood forms. */
  private startMoving(
    state: ScriptState,
    plan: MovingPlan,
    send: Pointer,
    receive: Pointer,
    form: CollectiveForm,
  ): RecordId {
    const { collectives } = state.core;
    const { comm } = this;
    const commPlan = state.plan(plan.communicator);
    const { sends, receives } = blockPlacesOf(plan, commPlan, state.rank);
    if (isNeighbor(plan.kind)) {
      const { sources, destinations } = comm.topology!.neighbours(comm.rank);
      const hood = { rank: comm.rank, sources, destinations, cartesian: commPlan.topology?.kind === "grid" };
      const collective = plan.kind.startsWith("neighbor_allgather")
        ? ({ kind: "neighbor_allgatherv", ...hood, bytes: sends.bytes[0]!, receives } as const)
        : ({ kind: "neighbor_alltoallv", ...hood, sends, receives } as const);
      return collectives.startNeighbor(comm, collective, send, receive, form);
    }
    const place = { ...this.place(state), nodes: comm.memberNodes };
    const start = (collective: Parameters<typeof collectives.start>[1]): RecordId =>
      collectives.start(comm, collective, send, receive, null, form);
    const isRoot = state.rank === plan.root;
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
}

saves({ ScriptedCollective, CollectiveNow, PendingCollective });
