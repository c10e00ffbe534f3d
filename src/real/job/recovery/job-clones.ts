/**
 * Replicas of a real job that are lost come back as clones of others: the host of `core/service/clone-schedule.ts`, embedded in the
 * dispatcher's process. A spare takes the place of a node that is gone, or it is started again, empty; the processes that it had begin there one after the other, each from the
 * image of its source. Of programs in C the memory travels from node to node while the source runs (`CloneTravel`); what a program in TypeScript has given to
 * `mpi.checkpoint` travels as images of checkpoints do: in the job's folder, or through the dispatcher.
 *
 * A living replica that shall go on elsewhere goes the same way, as the source of its own next life (ADR 79).
 */
import { linkSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { ProcessName } from "../../../core/base/identity.ts";
import {
  type CloneBeginning,
  type ClonedReplica,
  cloneNumber,
  type MovedReplica,
  noClone,
} from "../../../core/ft/clones.ts";
import { type CloneAttempt, CloneSchedule, isMove } from "../../../core/service/clone-schedule.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { Placement } from "../../../core/service/placement.ts";
import { ranksOfNode } from "../../../core/service/placement.ts";
import { type ReplicaMoveOrder, replicaMoveOf } from "../../../core/service/replica-moves.ts";
import { SpareNodes } from "../../../core/service/spare-nodes.ts";
import { folderOfCheckpoint } from "../../file-service/file-key.ts";
import { imagePath } from "../../image/image-path.ts";
import type { RankRestart } from "../../messages/lives.ts";
import type { CloneNews, RecoverySetup } from "../../messages/node-messages.ts";
import type { CaptureFacts, RankImage } from "../../messages/rank-messages.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";
import { CloneTravel } from "./clone-travel.ts";
import { MovingReplicas } from "./moving-replicas.ts";

interface JobClonesOptions {
  /** By rank: how many processes play it; and by process who plays which. */
  readonly plan: readonly number[];
  readonly players: readonly ProcessName[];
  readonly placement: Placement;
  /** For images. */
  readonly folder: string;
  /** Images are taken where the program says so (mpi.checkpoint), not at any call. */
  readonly isByProgram: boolean;
  /** How many nodes are in reserve. */
  readonly spares: number;
  /** Of each process. */
  readonly memoryMb: number;
  /** Ranks of other nodes that a node has places for beside those that it began with. */
  readonly guests: number;
  /** Nodes join and leave the job by themselves. */
  readonly isJoined: boolean;
  /** Could links between nodes stay as large as they are if processes were placed so? */
  areLinksAlike(placement: readonly number[]): boolean;
}

interface JobClonesParts {
  readonly core: Pick<
    Dispatcher,
    "outcome" | "state" | "isNodeAlive" | "nodeAgain" | "rankReturned" | "rankMissed" | "openNode" | "rankMoved"
  >;
  readonly nodes: Pick<
    JobNodes,
    "send" | "replace" | "prepareSpare" | "startReserve" | "reserveMemory" | "processOf" | "pids" | "placesChanged"
  >;
  readonly report: Pick<JobReport, "note" | "names" | "movedAlone">;
  /** A process that reads standard input is back, and has everything before that place. */
  inputReturned(process: number, offset: number): void;
}

/** An image that has come, of a clone whose node may not be there yet. */
interface Arrived {
  readonly attempt: CloneAttempt;
  readonly bytes: number;
  readonly rounds: number;
  readonly copyMs: number;
  readonly inputOffset: number;
}

/** What a process at its own checkpoint has been told; it goes on when it is told so. */
interface Order {
  readonly number: number;
  /** Has it heard of that? An order that is taken back before would not be heard at all. */
  isHeard: boolean;
}

/** How long everybody may take to answer a source, in its first attempt; twice as long in each that follows, so often. */
const patienceMs = 120_000;
const doublingsMax = 5;

/** Memory that gets ready for a clone, to that which is used. */
const growth = 1.1;

/** A node that was started again so often in a row and never had its ranks back, spares apart, is not any more. */
const nodeStartsMax = 5;

export class JobClones {
  readonly #options: JobClonesOptions;
  readonly #parts: JobClonesParts;
  readonly #schedule: CloneSchedule;
  readonly #beganMs = Date.now();
  readonly #moving: MovingReplicas;
  /** By node: how many processes have places there. */
  readonly #placesOn = new Map<number, number>();
  readonly #nodesFirst: number;
  /** None before all ranks have begun: then they are started. */
  #spares = new SpareNodes(0, nodeStartsMax);
  /** By node that was lost: the spare that has its place, 0: another process; and those of them that are ready. */
  readonly #successors = new Map<number, number>();
  readonly #ready = new Set<number>();
  /** Lost, and nobody takes their places. */
  readonly #abandoned = new Set<number>();
  /** Deaths that have not been dealt with; and when each process died. */
  readonly #dead: number[] = [];
  readonly #diedMs = new Map<number, number>();
  #isMissing = false;
  #missed = 0;
  /** By process: those whose programs wait in a checkpoint. */
  readonly #orders = new Map<number, Order>();
  /** By process: how often it was asked to be a source, since a clone of it was back. */
  readonly #asked = new Map<number, number>();
  /** What processes in reserve were told to get ready. */
  #reservedMb = 0;
  /** On its way from node to node; null: nothing is. */
  #travel: CloneTravel | null = null;
  /** When the source stopped, and how long it stood still. */
  #stoppedMs = 0;
  /** When the clone that was begun last ran. */
  #runsMs = 0;
  #pauseMs = 0;
  #arrived: Arrived | null = null;
  /** The one that was begun with, until everybody knows its clone. */
  #begun: (Arrived & { readonly before: number }) | null = null;
  readonly #clones: ClonedReplica[] = [];
  /** Those that nobody was told of: they are told together. */
  readonly #untold: number[] = [];

  constructor(options: JobClonesOptions, parts: JobClonesParts) {
    this.#options = options;
    this.#parts = parts;
    this.#moving = new MovingReplicas(parts);
    this.#nodesFirst = parts.core.state.nodes.length;
    this.#schedule = new CloneSchedule(options.plan, {
      copy: (attempt) => this.#copy(attempt),
      ask: (attempt) => this.#ask(attempt),
      giveUp: (attempt) => this.#giveUp(attempt),
      // Of the lost.
      hasPlace: (clone) => parts.core.isNodeAlive(this.#nodeOf(this.#processOf(clone))),
    });
  }

  allBegan(): void {
    const { nodes, report } = this.#parts;
    const { spares, isByProgram } = this.#options;
    if (spares === 0) nodes.prepareSpare(!isByProgram);
    this.#spares = new SpareNodes(spares, nodeStartsMax);
    nodes.startReserve(spares, !isByProgram, (spare) => {
      if (this.#spares.lost(spare)) report.note(`spare ${spare} is gone, and takes no place`);
    });
  }

  get report(): readonly ClonedReplica[] {
    return this.#clones;
  }

  get moves(): readonly MovedReplica[] {
    return this.#moving.report;
  }

  /** Deaths that were declared of lives that never began. */
  get missed(): number {
    return this.#missed;
  }

  /** For a node that is about to start, or to start some ranks. */
  setup(node: number, restarts: readonly RankRestart[]): { recovery: RecoverySetup; protocolPart: undefined } {
    const { placement, folder: checkpointFolder, guests } = this.#options;
    if (!this.#placesOn.has(node)) this.#placesOn.set(node, ranksOfNode(placement, node).length + guests);
    const incarnations = this.#parts.core.state.ranks.map(({ incarnation }) => incarnation);
    const recovery = {
      // Each process falls, and is captured, for itself.
      setOf: [...placement.keys()],
      incarnations,
      restarts,
      checkpointFolder,
      checkpointServers: [],
      beganMs: this.#beganMs,
      startsEmpty: this.#successors.has(node),
    };
    return { recovery, protocolPart: undefined };
  }

  // News

  /** The dispatcher has declared a death. What follows from it waits until all of the same loss are declared. */
  died(process: number): void {
    if (this.#isMissing) return;
    this.#orders.delete(process);
    const at = this.#untold.indexOf(process);
    if (at >= 0) this.#untold.splice(at, 1);
    this.#dead.push(process);
    this.#diedMs.set(process, performance.now());
    queueMicrotask(() => this.#goOn());
  }

  /** A rank uses so much of its memory: processes in reserve get as much ready for its clone, and some more, because most programs grow. */
  uses(usedMb: number): void {
    if (usedMb <= this.#reservedMb) return;
    this.#reservedMb = Math.ceil(usedMb * growth);
    const { memoryMb } = this.#options;
    this.#parts.nodes.reserveMemory({ memoryMb, usedMb: Math.min(memoryMb, this.#reservedMb) });
  }

  nodeEnded(node: number): void {
    this.#ready.delete(node);
    this.#travel?.nodeEnded(node);
    queueMicrotask(() => this.#goOn());
  }

  nodeReady(node: number): void {
    this.#ready.add(node);
    this.#depart();
    this.#begin();
  }

  #goOn(): void {
    const { core } = this.#parts;
    if (core.outcome !== undefined) return;
    for (const process of this.#diedMs.keys()) this.#startNode(this.#options.placement[process]!);
    for (const process of this.#dead.splice(0)) {
      this.#moving.lost(process);
      this.#schedule.died(this.#options.players[process]!);
    }
    const attempt = this.#schedule.present;
    if (attempt === null) return;
    const node = this.#placeOf(attempt);
    if (core.isNodeAlive(node) && this.#travel?.isLost !== true) return;
    this.#moving.why = `node ${node} was lost`;
    this.#schedule.failed(attempt);
  }

  /** Another process in the place of a node that is gone. */
  #startNode(node: number): void {
    const { core, nodes, report } = this.#parts;
    if (core.isNodeAlive(node) || this.#abandoned.has(node)) return;
    const successor = this.#spares.successorOf(node);
    if (successor === null) {
      this.#abandoned.add(node);
      report.note(`node ${node} is not started again: it ended ${nodeStartsMax} times before its ranks were back`);
    }
    if (successor === null || !core.nodeAgain(node)) return;
    this.#successors.set(node, successor.spare);
    this.#placesOn.delete(node);
    nodes.replace(node, [], successor.spare);
  }

  // Moves

  /** All replicas of a node shall be elsewhere, and the node shall go. Returns the obstacle; empty: they are on their way. */
  drain(node: number): string {
    return this.move({ moved: { kind: "node", node }, onto: null });
  }

  /** Replicas shall go on elsewhere, one after the other, while they live. Returns the obstacle; empty: they are on their way. */
  move(order: ReplicaMoveOrder): string {
    const { core, nodes } = this.#parts;
    const { placement, players, isJoined, areLinksAlike } = this.#options;
    if (isJoined) return "its nodes join and leave by themselves, and ranks have the places of those";
    if (this.#moving.isUnderWay) return "replicas are being moved; try again when they are there";
    if (this.#schedule.present !== null) return "lost replicas are coming back; try again when they are there";
    const move = replicaMoveOf(this.#places, order);
    if (typeof move === "string") return move;
    const { processes, node, spare } = move;
    if (!areLinksAlike(placement.map((each, process) => (processes.includes(process) ? node : each))))
      return `node ${node} would have more connections than there is memory for`;
    if (spare !== null) {
      if (spare > 0) this.#spares.take(spare);
      if (!core.openNode(node)) return "the job ends";
      this.#ready.delete(node);
      this.#placesOn.delete(node);
      this.#successors.set(node, spare);
      nodes.replace(node, [], spare);
    }
    this.#moving.begin(move);
    for (const process of processes) this.#schedule.move(players[process]!);
    return "";
  }

  get #places(): Parameters<typeof replicaMoveOf>[0] {
    const { core } = this.#parts;
    const { players, placement, plan, spares, guests } = this.#options;
    return {
      players,
      placement,
      plan,
      spares,
      nodesFirst: this.#nodesFirst,
      nodes: core.state.nodes.length,
      sparesLeft: this.#spares.left,
      isNodeAlive: (node) => core.isNodeAlive(node),
      stateOf: (process) => {
        const { state } = core.state.ranks[process]!;
        return state === "running" || state === "done" ? state : "dead";
      },
      roomOf: (node) => (this.#placesOn.get(node) ?? 0) - ranksOfNode(placement, node).length,
      roomOfNew: guests,
    };
  }

  /** The node that the clone will be on. */
  #placeOf(attempt: CloneAttempt): number {
    const clone = this.#processOf(attempt.clone);
    return (isMove(attempt) ? this.#moving.targetOf(clone) : null) ?? this.#nodeOf(clone);
  }

  /** It goes on where it is, and is not expected elsewhere. */
  #stay(attempt: CloneAttempt): void {
    const { core, nodes } = this.#parts;
    const process = this.#processOf(attempt.clone);
    const target = this.#moving.targetOf(process);
    const { state, incarnation } = core.state.ranks[process]!;
    if (state !== "dead")
      nodes.send(this.#nodeOf(process), { kind: "stay-rank", rank: process, incarnation: attempt.life });
    if (target !== null && core.isNodeAlive(target))
      nodes.send(target, { kind: "release-rank", rank: process, incarnation });
    this.#moving.stays(process);
  }

  // The source

  #copy(attempt: CloneAttempt): void {
    if (isMove(attempt) && !this.#isAdopted(attempt)) return;
    if (this.#options.isByProgram) {
      this.#schedule.copied(attempt);
      return;
    }
    if (this.#isOver(attempt)) return;
    const clone = this.#processOf(attempt.clone);
    const source = this.#sourceOf(attempt);
    const places = { source, sourceNode: this.#nodeOf(source), clone, cloneNode: this.#placeOf(attempt) };
    const { nodes } = this.#parts;
    this.#travel = new CloneTravel(numberOf(attempt), places, (node, message) => nodes.send(node, message));
    this.#depart();
  }

  /** Has the node that a replica goes to made a place for it? */
  #isAdopted(attempt: CloneAttempt): boolean {
    const { core, nodes } = this.#parts;
    const node = this.#placeOf(attempt);
    const isAlive = core.isNodeAlive(node);
    if (isAlive) nodes.processOf(node).adopts(this.#processOf(attempt.clone));
    else queueMicrotask(() => this.#fail(attempt, `node ${node} was lost`));
    return isAlive;
  }

  /** `why`: of a replica that stays where it is therefore. */
  #fail(attempt: CloneAttempt, why: string): void {
    this.#moving.why = why;
    this.#schedule.failed(attempt);
  }

  #depart(): void {
    const attempt = this.#schedule.present;
    if (attempt !== null && this.#isNodeThere(attempt)) this.#travel?.depart();
  }

  /** A node has said something about the memory of a source, or of a clone. */
  cloneNews(process: number, number: number, news: CloneNews): void {
    const attempt = this.#schedule.present;
    const travel = this.#travel;
    if (attempt === null || travel === null || number !== numberOf(attempt)) return;
    if (news.kind === "failed") {
      const { report } = this.#parts;
      if (!isMove(attempt))
        report.note(`Cannot copy the memory of ${report.names.nameOf(travel.places.source)}: ${news.problem}`);
      this.#fail(attempt, `its memory cannot be copied: ${news.problem}`);
      return;
    }
    travel.heard(process, news);
    if (news.kind === "copied") this.#schedule.copied(attempt);
    this.#arrive(attempt, travel);
  }

  #arrive(attempt: CloneAttempt, travel: CloneTravel): void {
    const whole = travel.whole;
    if (whole === null || this.#arrived !== null) return;
    this.#arrived = { attempt, ...whole };
    this.#begin();
  }

  /** A program that is over needs no second one beside it. */
  #isOver(attempt: CloneAttempt): boolean {
    const isOver = this.#parts.core.state.ranks[this.#sourceOf(attempt)]!.state !== "running";
    if (isOver) queueMicrotask(() => this.#refuse(attempt));
    return isOver;
  }

  #refuse(attempt: CloneAttempt): void {
    this.#moving.why = "its program is over";
    this.#schedule.refused(attempt.clone.rank);
  }

  #ask(attempt: CloneAttempt): void {
    if (this.#isOver(attempt) || this.#options.isByProgram) return;
    this.#expect(attempt);
    this.#stop(this.#sourceOf(attempt), numberOf(attempt));
  }

  /** Others may wait for each other until the attempt is given up, or a rank computes for long. */
  #expect(attempt: CloneAttempt): void {
    const source = this.#sourceOf(attempt);
    const before = this.#asked.get(source) ?? 0;
    this.#asked.set(source, before + 1);
    setTimeout(
      () => {
        const { present } = this.#schedule;
        if (present?.life !== attempt.life || present.step !== "asked") return;
        const { report } = this.#parts;
        if (!isMove(attempt))
          report.note(
            `Cannot clone ${report.names.nameOf(source)} now: not all others have answered it; tried again later`,
          );
        this.#fail(attempt, "not all others have answered it; try again");
      },
      patienceMs * 2 ** Math.min(before, doublingsMax),
    ).unref();
  }

  #stop(process: number, number: number): void {
    const kept = { oldest: 0, newest: 0 };
    this.#parts.nodes.send(this.#nodeOf(process), {
      kind: "checkpoint",
      set: process,
      members: [process],
      number,
      kept,
    });
  }

  /** A program has come to a checkpoint, and waits to be told whether an image is wanted. */
  checkpointWanted(process: number): void {
    const attempt = this.#schedule.present;
    const isSource = attempt !== null && attempt.step === "asked" && this.#sourceOf(attempt) === process;
    const number = isSource ? numberOf(attempt) : noClone;
    if (isSource) this.#expect(attempt);
    this.#orders.set(process, { number, isHeard: false });
    this.#stop(process, number);
  }

  /** It has heard that; said again: it cannot be captured now. */
  stopped(process: number): void {
    // Not once it has begun elsewhere: a program comes to its next checkpoint there.
    if (this.#begun === null && this.#isPresentSource(process)) this.#stoppedMs = performance.now();
    const order = this.#orders.get(process);
    if (order === undefined) return;
    const attempt = this.#schedule.present;
    const isWanted = attempt !== null && this.#isImageOf(attempt, process, order.number);
    if (order.isHeard || !isWanted) this.#letGo(process);
    else order.isHeard = true;
  }

  /** A program that is over comes to no checkpoint. */
  finished(process: number): void {
    const attempt = this.#schedule.present;
    if (!this.#options.isByProgram || attempt?.step !== "asked" || this.#sourceOf(attempt) !== process) return;
    queueMicrotask(() => this.#refuse(attempt));
  }

  #isPresentSource(process: number): boolean {
    const { present } = this.#schedule;
    return present !== null && this.#sourceOf(present) === process;
  }

  /** The image has left the source, which goes on. */
  captured(process: number, { number, inputOffset }: CaptureFacts): void {
    const attempt = this.#schedule.present;
    const isImage = attempt !== null && this.#isImageOf(attempt, process, number);
    // One that is moved stands still until it has begun elsewhere, or will not.
    if (!isImage || !isMove(attempt)) this.#letGo(process);
    if (!isImage) return;
    this.#pauseMs = performance.now() - this.#stoppedMs;
    this.#schedule.captured(attempt);
    const travel = this.#travel;
    if (travel === null) return;
    // The folder that was made for it: nothing is in it.
    this.#remove(process, number);
    travel.captured(inputOffset);
    this.#arrive(attempt, travel);
  }

  #letGo(process: number): void {
    this.#orders.delete(process);
    this.#parts.nodes.send(this.#nodeOf(process), { kind: "go-on", set: process, members: [process] });
  }

  image(process: number, { number, problem, inputOffset }: RankImage): void {
    const attempt = this.#schedule.present;
    if (attempt === null || !this.#isImageOf(attempt, process, number)) {
      this.#remove(process, number);
      return;
    }
    const moved = problem === "" ? this.#move(attempt) : problem;
    if (typeof moved === "string") {
      this.#letGo(process);
      if (!isMove(attempt))
        this.#parts.report.note(`Cannot clone ${this.#parts.report.names.nameOf(process)}: ${moved}`);
      this.#fail(attempt, moved);
      return;
    }
    const copyMs = performance.now() - this.#stoppedMs;
    this.#arrived = { attempt, bytes: moved, rounds: 1, copyMs, inputOffset };
    this.#begin();
  }

  #isImageOf(attempt: CloneAttempt, process: number, number: number): boolean {
    return process === this.#sourceOf(attempt) && number === numberOf(attempt);
  }

  /** The clone finds it where a rank of its number would. Its size; a text: it cannot be moved. */
  #move(attempt: CloneAttempt): number | string {
    const number = numberOf(attempt);
    const [from, to] = [this.#sourceOf(attempt), this.#processOf(attempt.clone)].map((process) =>
      imagePath(folderOfCheckpoint(this.#options.folder, process, number), process),
    ) as [string, string];
    try {
      if (from === to) return statSync(to).size;
      mkdirSync(dirname(to), { recursive: true });
      linkSync(from, to);
      this.#remove(this.#sourceOf(attempt), number);
      return statSync(to).size;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #remove(process: number, number: number): void {
    rmSync(folderOfCheckpoint(this.#options.folder, process, number), { recursive: true, force: true });
  }

  #giveUp(attempt: CloneAttempt): void {
    const { core } = this.#parts;
    const source = this.#sourceOf(attempt);
    this.#arrived = null;
    this.#travel?.giveUp();
    this.#travel = null;
    if (core.outcome !== undefined) return;
    if (isMove(attempt)) this.#stay(attempt);
    // One that has not heard of its order yet says so, and is let go then.
    const mayHear = this.#orders.get(source)?.isHeard ?? !this.#options.isByProgram;
    if (mayHear && core.state.ranks[source]!.state !== "dead") this.#letGo(source);
    if (isMove(attempt)) return;
    this.#missed++;
    this.#isMissing = true;
    core.rankMissed(this.#processOf(attempt.clone), attempt.life);
    this.#isMissing = false;
  }

  // The clone

  #begin(): void {
    const arrived = this.#arrived;
    if (arrived === null || this.#parts.core.outcome !== undefined) return;
    const { attempt, inputOffset } = arrived;
    const process = this.#processOf(attempt.clone);
    const [node, before] = [this.#placeOf(attempt), this.#nodeOf(process)];
    const { core, nodes } = this.#parts;
    if (!this.#isNodeThere(attempt) || !this.#schedule.begin(attempt)) return;
    const hasBegun = isMove(attempt)
      ? core.rankMoved(process, node, attempt.life)
      : core.rankReturned(process, attempt.life);
    if (!hasBegun) return;
    if (isMove(attempt)) {
      // Nodes hear where it is before they hear of its life there.
      nodes.placesChanged();
      nodes.send(before, { kind: "release-rank", rank: process, incarnation: attempt.life });
    }
    this.#begun = { ...arrived, before };
    this.#arrived = null;
    this.#travel = null;
    if (attempt.clone.rank === 0) this.#parts.inputReturned(process, inputOffset);
    const data: CloneBeginning = { replica: attempt.clone.replica, members: this.#members() };
    const restart = { rank: process, incarnation: attempt.life, checkpoint: numberOf(attempt), data };
    nodes.send(node, { kind: "restart-ranks", ranks: [process], ...this.setup(node, [restart]), watches: [] });
  }

  #members(): CloneBeginning["members"] {
    const { ranks } = this.#parts.core.state;
    return this.#options.players.map((name, process) => {
      const { incarnation: life, state } = ranks[process]!;
      return { ...name, life, isAlive: state !== "dead" };
    });
  }

  /** Its program runs. */
  began(process: number, incarnation: number): void {
    const attempt = this.#begun?.attempt;
    if (attempt !== undefined && this.#processOf(attempt.clone) === process && attempt.life === incarnation)
      this.#runsMs = performance.now();
  }

  /** Everybody knows the clone. */
  caughtUp(process: number, incarnation: number): void {
    const begun = this.#begun;
    if (begun === null || this.#processOf(begun.attempt.clone) !== process || begun.attempt.life !== incarnation)
      return;
    const { attempt, bytes, rounds, copyMs, before } = begun;
    this.#begun = null;
    this.#asked.delete(this.#sourceOf(attempt));
    this.#remove(process, numberOf(attempt));
    if (isMove(attempt)) {
      const pauseMs = this.#runsMs - this.#stoppedMs;
      const where = { from: before, node: this.#nodeOf(process) };
      this.#moving.came({ ...attempt.clone, ...where, bytes, rounds, copyMs, pauseMs }, process);
      this.#schedule.back(attempt);
      this.#prepareSpare();
      return;
    }
    const afterMs = performance.now() - this.#diedMs.get(process)!;
    const spare = this.#spareOf(process);
    const pauseMs = this.#pauseMs;
    this.#clones.push({ ...attempt.clone, source: attempt.source, bytes, rounds, copyMs, pauseMs, afterMs, spare });
    this.#untold.push(process);
    this.#schedule.back(attempt);
    if (this.#schedule.present !== null) return;
    const back = this.#untold.splice(0).sort((one, other) => one - other);
    const { report } = this.#parts;
    for (const each of back) this.#spares.regained(this.#nodeOf(each));
    this.#prepareSpare();
    const spares = [...new Set(back.map((each) => this.#spareOf(each)))].filter((each) => each > 0);
    const where = spares.length === 0 ? "" : `, on spare ${spares.join(" and ")}`;
    report.note(`${report.names.listed(back)} came back, ${(afterMs / 1000).toFixed(2)} s after the loss${where}`);
  }

  /** Not sooner than all are there: another process would take the processors from those that come. */
  #prepareSpare(): void {
    const { nodes, core } = this.#parts;
    if (core.outcome === undefined && this.#schedule.present === null && this.#spares.left.length === 0)
      nodes.prepareSpare(!this.#options.isByProgram);
  }

  /** Is the node of the clone there, and has it said so? */
  #isNodeThere(attempt: CloneAttempt): boolean {
    const node = this.#placeOf(attempt);
    return this.#parts.core.isNodeAlive(node) && (!this.#successors.has(node) || this.#ready.has(node));
  }

  /** 0: none. */
  #spareOf(process: number): number {
    return this.#successors.get(this.#nodeOf(process)) ?? 0;
  }

  /** Its thread waits for its end, which is a death like any other. */
  imageUnreadable(process: number, _number: number, why: string): void {
    const { nodes, report } = this.#parts;
    report.note(`Cannot use the image for ${report.names.nameOf(process)}: ${why}`);
    nodes.send(this.#nodeOf(process), { kind: "kill-ranks", ranks: [process] });
  }

  // Places

  #processOf({ rank, replica }: ProcessName): number {
    return this.#options.players.findIndex((name) => name.rank === rank && name.replica === replica);
  }

  #sourceOf({ clone, source }: CloneAttempt): number {
    return this.#processOf({ rank: clone.rank, replica: source });
  }

  #nodeOf(process: number): number {
    return this.#options.placement[process]!;
  }
}

const numberOf = ({ clone, life }: CloneAttempt): number => cloneNumber(clone.replica, life);
