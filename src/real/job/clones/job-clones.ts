/**
 * Replicas of a real job that are lost come back as clones of others: the host of `core/service/clone-schedule.ts`, embedded in the
 * dispatcher's process. A spare takes the place of a node that is gone, or it is started again, empty; the processes that it had begin there one after the other, each from the
 * image of its source. Of programs in C the memory travels from node to node while the source runs (`CloneTravel`); what a program in TypeScript has given to
 * `mpi.checkpoint` travels as images of checkpoints do: in the job's folder, or through the dispatcher.
 *
 * A living replica that shall go on elsewhere goes the same way, as the source of its own next life (ADR 79).
 */
import { type ClonedReplica, type MovedReplica, noClone } from "../../../core/ft/clones.ts";
import { type CloneAttempt, CloneSchedule, isMove } from "../../../core/service/clone-schedule.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { ReplicaMoveOrder } from "../../../core/service/replica-moves.ts";
import type { RankRestart } from "../../messages/lives.ts";
import type { CloneNews, RecoverySetup, ToNode } from "../../messages/node-messages.ts";
import type { CaptureFacts, RankImage } from "../../messages/rank-messages.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";
import { CloneBeginnings, type CloneBeginningsOptions } from "./clone-beginnings.ts";
import { CloneImages } from "./clone-images.ts";
import { CloneNodes, type CloneNodesOptions } from "./clone-nodes.ts";
import { ClonePlaces, imageNumberOf } from "./clone-places.ts";
import { CloneSources } from "./clone-sources.ts";
import { ImageJourney } from "./image-journey.ts";
import { MovingReplicas, type MovingReplicasOptions } from "./moving-replicas.ts";
import { ReturnedReplicas } from "./returned-replicas.ts";

interface JobClonesOptions
  extends MovingReplicasOptions,
    CloneBeginningsOptions,
    Omit<CloneNodesOptions, "areForMemories"> {
  /** Images are taken where the program says so (mpi.checkpoint), not at any call. */
  readonly isByProgram: boolean;
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

export class JobClones {
  readonly #options: JobClonesOptions;
  readonly #parts: JobClonesParts;
  readonly #schedule: CloneSchedule;
  readonly #moving: MovingReplicas;
  readonly #returned: ReturnedReplicas;
  readonly #places: ClonePlaces;
  readonly #nodes: CloneNodes;
  readonly #sources: CloneSources;
  readonly #images: CloneImages;
  readonly #journey: ImageJourney;
  readonly #beginnings: CloneBeginnings;
  /** Deaths that have not been dealt with. */
  readonly #dead: number[] = [];
  #isMissing = false;
  #missed = 0;

  constructor(options: JobClonesOptions, parts: JobClonesParts) {
    this.#options = options;
    this.#parts = parts;
    const { players, placement, isByProgram } = options;
    const { nodes } = parts;
    this.#nodes = new CloneNodes({ ...options, areForMemories: !isByProgram }, parts);
    this.#moving = new MovingReplicas(options, { ...parts, cloneNodes: this.#nodes });
    this.#returned = new ReturnedReplicas(parts.report);
    this.#places = new ClonePlaces({ players, placement, targetOf: (process) => this.#moving.targetOf(process) });
    const send = (process: number, message: ToNode): void => nodes.send(this.#places.nodeOf(process), message);
    this.#sources = new CloneSources({ isByProgram, send });
    this.#images = new CloneImages(options.folder);
    this.#journey = new ImageJourney({ nodes, places: this.#places, images: this.#images });
    const { core, inputReturned } = parts;
    this.#beginnings = new CloneBeginnings(options, {
      core,
      nodes,
      cloneNodes: this.#nodes,
      places: this.#places,
      inputReturned,
    });
    this.#schedule = new CloneSchedule(options.plan, {
      copy: (attempt) => this.#copy(attempt),
      ask: (attempt) => this.#ask(attempt),
      giveUp: (attempt) => this.#giveUp(attempt),
      // Of the lost.
      hasPlace: (clone) => parts.core.isNodeAlive(this.#places.nodeOf(this.#places.processOf(clone))),
    });
  }

  allBegan(): void {
    this.#nodes.allBegan();
  }

  get report(): readonly ClonedReplica[] {
    return this.#returned.all;
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
    return this.#beginnings.setup(node, restarts);
  }

  // News

  /** The dispatcher has declared a death. What follows from it waits until all of the same loss are declared. */
  died(process: number): void {
    if (this.#isMissing) return;
    this.#sources.died(process);
    this.#returned.died(process);
    this.#dead.push(process);
    queueMicrotask(() => this.#goOn());
  }

  /** A rank uses so much of its memory. */
  uses(usedMb: number): void {
    this.#nodes.uses(usedMb);
  }

  nodeEnded(node: number): void {
    this.#nodes.ended(node);
    this.#journey.nodeEnded(node);
    queueMicrotask(() => this.#goOn());
  }

  nodeReady(node: number): void {
    this.#nodes.ready(node);
    this.#depart();
    this.#begin();
  }

  #goOn(): void {
    const { core } = this.#parts;
    if (core.outcome !== undefined) return;
    for (const process of this.#returned.everLost) this.#nodes.replaceLost(this.#places.nodeOf(process));
    for (const process of this.#dead.splice(0)) {
      this.#schedule.died(this.#options.players[process]!);
      this.#moving.lost(process);
    }
    const attempt = this.#schedule.present;
    if (attempt === null) return;
    const node = this.#places.cloneNodeOf(attempt);
    if (core.isNodeAlive(node) && !this.#journey.isLost) return;
    this.#fail(attempt, `node ${node} was lost`);
  }

  // Moves

  /** All replicas of a node shall be elsewhere, and the node shall go. Returns the obstacle; empty: they are on their way. */
  drain(node: number): string {
    return this.move({ moved: { kind: "node", node }, onto: null });
  }

  /** Replicas shall go on elsewhere, one after the other, while they live. Returns the obstacle; empty: they are on their way. */
  move(order: ReplicaMoveOrder): string {
    const move = this.#moving.begin(order, this.#schedule.present !== null);
    if (typeof move === "string") return move;
    for (const process of move.processes) this.#schedule.move(this.#options.players[process]!);
    return "";
  }

  // The source

  #copy(attempt: CloneAttempt): void {
    if (isMove(attempt) && !this.#isAdopted(attempt)) return;
    if (this.#options.isByProgram) {
      this.#schedule.copied(attempt);
      return;
    }
    if (this.#isOver(attempt)) return;
    this.#journey.begin(attempt);
    this.#depart();
  }

  /** Has the node that a replica goes to made a place for it? */
  #isAdopted(attempt: CloneAttempt): boolean {
    const { core, nodes } = this.#parts;
    const node = this.#places.cloneNodeOf(attempt);
    const isAlive = core.isNodeAlive(node);
    if (isAlive) nodes.processOf(node).adopts(this.#places.cloneOf(attempt));
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
    if (attempt !== null && this.#isNodeThere(attempt)) this.#journey.depart();
  }

  /** A node has said something about the memory of a source, or of a clone. */
  cloneNews(process: number, number: number, news: CloneNews): void {
    const attempt = this.#schedule.present;
    if (attempt === null || !this.#journey.isFromNodeToNode || number !== imageNumberOf(attempt)) return;
    if (news.kind === "failed") {
      const { report } = this.#parts;
      if (!isMove(attempt))
        report.note(
          `Cannot copy the memory of ${report.names.nameOf(this.#places.sourceOf(attempt))}: ${news.problem}`,
        );
      this.#fail(attempt, `its memory cannot be copied: ${news.problem}`);
      return;
    }
    this.#journey.heard(process, news);
    if (news.kind === "copied") this.#schedule.copied(attempt);
    if (this.#journey.arrives(attempt)) this.#begin();
  }

  /** A program that is over needs no second one beside it. */
  #isOver(attempt: CloneAttempt): boolean {
    const isOver = this.#parts.core.state.ranks[this.#places.sourceOf(attempt)]!.state !== "running";
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
    this.#sources.stop(this.#places.sourceOf(attempt), imageNumberOf(attempt));
  }

  #expect(attempt: CloneAttempt): void {
    const source = this.#places.sourceOf(attempt);
    this.#sources.waitFor(source, () => {
      const { present } = this.#schedule;
      if (present?.life !== attempt.life || present.step !== "asked") return;
      const { report } = this.#parts;
      if (!isMove(attempt))
        report.note(
          `Cannot clone ${report.names.nameOf(source)} now: not all others have answered it; tried again later`,
        );
      this.#fail(attempt, "not all others have answered it; try again");
    });
  }

  /** A program has come to a checkpoint, and waits to be told whether an image is wanted. */
  checkpointWanted(process: number): void {
    const attempt = this.#schedule.present;
    const isSource = attempt !== null && attempt.step === "asked" && this.#places.sourceOf(attempt) === process;
    const number = isSource ? imageNumberOf(attempt) : noClone;
    if (isSource) this.#expect(attempt);
    this.#sources.order(process, number);
  }

  /** It has heard that; said again: it cannot be captured now. */
  stopped(process: number): void {
    // Not once it has begun elsewhere: a program comes to its next checkpoint there.
    if (!this.#beginnings.isUnderWay && this.#isPresentSource(process)) this.#journey.stopped();
    const attempt = this.#schedule.present;
    this.#sources.heard(process, (number) => attempt !== null && this.#places.isImageOf(attempt, process, number));
  }

  /** A program that is over comes to no checkpoint. */
  finished(process: number): void {
    const attempt = this.#schedule.present;
    if (!this.#options.isByProgram || attempt?.step !== "asked" || this.#places.sourceOf(attempt) !== process) return;
    queueMicrotask(() => this.#refuse(attempt));
  }

  #isPresentSource(process: number): boolean {
    const { present } = this.#schedule;
    return present !== null && this.#places.sourceOf(present) === process;
  }

  /** The image has left the source, which goes on. */
  captured(process: number, { number, inputOffset }: CaptureFacts): void {
    const attempt = this.#schedule.present;
    const isImage = attempt !== null && this.#places.isImageOf(attempt, process, number);
    // One that is moved stands still until it has begun elsewhere, or will not.
    if (!isImage || !isMove(attempt)) this.#sources.goOn(process);
    if (!isImage) return;
    this.#journey.captured(attempt, inputOffset);
    this.#schedule.captured(attempt);
    if (this.#journey.arrives(attempt)) this.#begin();
  }

  image(process: number, { number, problem, inputOffset }: RankImage): void {
    const attempt = this.#schedule.present;
    if (attempt === null || !this.#places.isImageOf(attempt, process, number)) {
      this.#images.remove(process, number);
      return;
    }
    const obstacle = problem === "" ? this.#journey.bring(attempt, inputOffset) : problem;
    if (obstacle !== "") {
      this.#sources.goOn(process);
      const { report } = this.#parts;
      if (!isMove(attempt)) report.note(`Cannot clone ${report.names.nameOf(process)}: ${obstacle}`);
      this.#fail(attempt, obstacle);
      return;
    }
    this.#begin();
  }

  #giveUp(attempt: CloneAttempt): void {
    const { core } = this.#parts;
    const source = this.#places.sourceOf(attempt);
    this.#journey.giveUp();
    if (core.outcome !== undefined) return;
    if (isMove(attempt)) this.#moving.stays(this.#places.cloneOf(attempt), attempt.life);
    if (core.state.ranks[source]!.state !== "dead") this.#sources.release(source);
    if (isMove(attempt)) return;
    this.#missed++;
    this.#isMissing = true;
    core.rankMissed(this.#places.cloneOf(attempt), attempt.life);
    this.#isMissing = false;
  }

  // The clone

  #begin(): void {
    const { arrived } = this.#journey;
    if (arrived === null || this.#parts.core.outcome !== undefined) return;
    const { attempt } = arrived;
    if (!this.#isNodeThere(attempt) || !this.#schedule.begin(attempt) || !this.#beginnings.begin(arrived)) return;
    this.#journey.over();
  }

  /** Its program runs. */
  began(process: number, incarnation: number): void {
    this.#beginnings.began(process, incarnation);
  }

  /** Everybody knows the clone. */
  caughtUp(process: number, incarnation: number): void {
    const begun = this.#beginnings.caughtUp(process, incarnation);
    if (begun === null) return;
    const { attempt, bytes, rounds, copyMs, before } = begun;
    this.#sources.served(this.#places.sourceOf(attempt));
    this.#images.remove(process, imageNumberOf(attempt));
    if (isMove(attempt)) {
      const pauseMs = this.#beginnings.runsMs - this.#journey.stoppedMs;
      const where = { from: before, node: this.#places.nodeOf(process) };
      this.#moving.came({ ...attempt.clone, ...where, bytes, rounds, copyMs, pauseMs }, process);
      this.#schedule.back(attempt);
      if (this.#schedule.present === null) this.#nodes.prepareSpare();
      return;
    }
    const spare = this.#spareOf(process);
    const { pauseMs } = this.#journey;
    this.#returned.came(process, { ...attempt.clone, source: attempt.source, bytes, rounds, copyMs, pauseMs, spare });
    this.#schedule.back(attempt);
    if (this.#schedule.present !== null) return;
    const { untold } = this.#returned;
    for (const each of untold) this.#nodes.regained(this.#places.nodeOf(each));
    this.#nodes.prepareSpare();
    this.#returned.tell([...new Set(untold.map((each) => this.#spareOf(each)))].filter((each) => each > 0));
  }

  /** Is the node of the clone there, and has it said so? */
  #isNodeThere(attempt: CloneAttempt): boolean {
    return this.#nodes.isThere(this.#places.cloneNodeOf(attempt));
  }

  /** 0: none. */
  #spareOf(process: number): number {
    return this.#nodes.spareOf(this.#places.nodeOf(process));
  }

  /** Its thread waits for its end, which is a death like any other. */
  imageUnreadable(process: number, _number: number, why: string): void {
    const { nodes, report } = this.#parts;
    report.note(`Cannot use the image for ${report.names.nameOf(process)}: ${why}`);
    nodes.send(this.#places.nodeOf(process), { kind: "kill-ranks", ranks: [process] });
  }
}
