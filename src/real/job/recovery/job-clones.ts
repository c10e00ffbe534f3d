/**
 * Replicas of a real job that are lost come back as clones of others: the host of `core/service/clone-schedule.ts`, embedded in the
 * dispatcher's process. A node that is gone is started again, empty; the processes that it had begin there one after the other, each from the
 * image of its source, which travels as images of checkpoints do: in the job's folder, or through the dispatcher.
 */
import { linkSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { ProcessName } from "../../../core/base/identity.ts";
import { type CloneBeginning, type ClonedReplica, cloneNumber, noClone } from "../../../core/ft/clones.ts";
import { type CloneAttempt, CloneSchedule } from "../../../core/service/clone-schedule.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { Placement } from "../../../core/service/placement.ts";
import { folderOfCheckpoint } from "../../file-service/file-key.ts";
import { imagePath } from "../../image/image-path.ts";
import type { RankRestart } from "../../messages/lives.ts";
import type { RecoverySetup } from "../../messages/node-messages.ts";
import type { CaptureFacts, RankImage } from "../../messages/rank-messages.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { JobReport } from "../report/job-report.ts";

interface JobClonesOptions {
  /** By rank: how many processes play it; and by process who plays which. */
  readonly plan: readonly number[];
  readonly players: readonly ProcessName[];
  readonly placement: Placement;
  /** For images. */
  readonly folder: string;
  /** Images are taken where the program says so (mpi.checkpoint), not at any call. */
  readonly isByProgram: boolean;
}

interface JobClonesParts {
  readonly core: Pick<Dispatcher, "outcome" | "state" | "isNodeAlive" | "nodeAgain" | "rankReturned" | "rankMissed">;
  readonly nodes: Pick<JobNodes, "send" | "replace" | "prepareSpare">;
  readonly report: Pick<JobReport, "note" | "names">;
  /** A process that reads standard input is back, and has everything before that place. */
  inputReturned(process: number, offset: number): void;
}

/** An image that has come, of a clone whose node may not be there yet. */
interface Arrived {
  readonly attempt: CloneAttempt;
  readonly bytes: number;
  readonly inputOffset: number;
}

/** What a process at its own checkpoint has been told; it goes on when it is told so. */
interface Order {
  readonly number: number;
  /** Has it heard of that? An order that is taken back before would not be heard at all. */
  isHeard: boolean;
}

/** How long everybody may take to answer a source, in its first attempt; twice as long in each that follows. */
const patienceMs = 120_000;

/** A node that is lost so often is not started again. */
const nodeStartsMax = 5;

export class JobClones {
  readonly #options: JobClonesOptions;
  readonly #parts: JobClonesParts;
  readonly #schedule: CloneSchedule;
  readonly #beganMs = Date.now();
  /** By node: how often it was started again; and those of them that are ready. */
  readonly #starts = new Map<number, number>();
  readonly #ready = new Set<number>();
  /** Deaths that have not been dealt with; and when each process died. */
  readonly #dead: number[] = [];
  readonly #diedMs = new Map<number, number>();
  #isMissing = false;
  #missed = 0;
  /** By process: those whose programs wait in a checkpoint. */
  readonly #orders = new Map<number, Order>();
  /** By process: how often it was asked to be a source. */
  readonly #asked = new Map<number, number>();
  #arrived: Arrived | null = null;
  /** The one that was begun with, until everybody knows its clone. */
  #begun: Arrived | null = null;
  readonly #clones: ClonedReplica[] = [];
  /** Those that nobody was told of: they are told together. */
  readonly #untold: number[] = [];

  constructor(options: JobClonesOptions, parts: JobClonesParts) {
    this.#options = options;
    this.#parts = parts;
    this.#schedule = new CloneSchedule(options.plan, {
      ask: (attempt) => this.#ask(attempt),
      giveUp: (attempt) => this.#giveUp(attempt),
    });
  }

  get report(): readonly ClonedReplica[] {
    return this.#clones;
  }

  /** Deaths that were declared of lives that never began. */
  get missed(): number {
    return this.#missed;
  }

  /** For a node that is about to start, or to start some ranks. */
  setup(node: number, restarts: readonly RankRestart[]): { recovery: RecoverySetup; protocolPart: undefined } {
    const { placement, folder: checkpointFolder } = this.#options;
    const incarnations = this.#parts.core.state.ranks.map(({ incarnation }) => incarnation);
    const recovery = {
      // Each process falls, and is captured, for itself.
      setOf: [...placement.keys()],
      incarnations,
      restarts,
      checkpointFolder,
      checkpointServers: [],
      beganMs: this.#beganMs,
      startsEmpty: this.#starts.has(node),
    };
    return { recovery, protocolPart: undefined };
  }

  // News

  /** The dispatcher has declared a death. What follows from it waits until all of the same loss are declared. */
  died(process: number): void {
    if (this.#isMissing) return;
    this.#orders.delete(process);
    this.#dead.push(process);
    this.#diedMs.set(process, performance.now());
    queueMicrotask(() => this.#goOn());
  }

  nodeEnded(node: number): void {
    this.#ready.delete(node);
    queueMicrotask(() => this.#goOn());
  }

  nodeReady(node: number): void {
    this.#ready.add(node);
    this.#begin();
  }

  #goOn(): void {
    const { core } = this.#parts;
    if (core.outcome !== undefined) return;
    for (const process of this.#diedMs.keys()) this.#startNode(this.#options.placement[process]!);
    for (const process of this.#dead.splice(0)) this.#schedule.died(this.#options.players[process]!);
  }

  /** Another process in the place of a node that is gone. */
  #startNode(node: number): void {
    const { core, nodes } = this.#parts;
    const starts = this.#starts.get(node) ?? 0;
    if (core.isNodeAlive(node) || starts >= nodeStartsMax || !core.nodeAgain(node)) return;
    this.#starts.set(node, starts + 1);
    nodes.replace(node, []);
  }

  // The source

  #ask(attempt: CloneAttempt): void {
    const { core } = this.#parts;
    const source = this.#sourceOf(attempt);
    // A program that is over needs no second one beside it.
    if (core.state.ranks[source]!.state !== "running") {
      queueMicrotask(() => this.#schedule.refused(attempt.clone.rank));
      return;
    }
    if (this.#options.isByProgram) return;
    this.#expect(attempt);
    this.#stop(source, numberOf(attempt));
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
        report.note(
          `Cannot clone ${report.names.nameOf(source)} now: not all others have answered it; tried again later`,
        );
        this.#schedule.failed(attempt);
      },
      patienceMs * 2 ** before,
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
    queueMicrotask(() => this.#schedule.refused(attempt.clone.rank));
  }

  /** The image is in a file, which others do not see yet: the source goes on. */
  captured(process: number, { number }: CaptureFacts): void {
    const attempt = this.#schedule.present;
    this.#letGo(process);
    if (attempt !== null && this.#isImageOf(attempt, process, number)) this.#schedule.captured(attempt);
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
      this.#parts.report.note(`Cannot clone ${this.#parts.report.names.nameOf(process)}: ${moved}`);
      this.#schedule.failed(attempt);
      return;
    }
    this.#arrived = { attempt, bytes: moved, inputOffset };
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
    if (core.outcome !== undefined) return;
    // One that has not heard of its order yet says so, and is let go then.
    const mayHear = this.#orders.get(source)?.isHeard ?? !this.#options.isByProgram;
    if (mayHear && core.state.ranks[source]!.state !== "dead") this.#letGo(source);
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
    const node = this.#nodeOf(process);
    const { core, nodes } = this.#parts;
    const isThere = core.isNodeAlive(node) && (!this.#starts.has(node) || this.#ready.has(node));
    if (!isThere || !this.#schedule.begin(attempt) || !core.rankReturned(process, attempt.life)) return;
    this.#begun = arrived;
    this.#arrived = null;
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

  /** Everybody knows the clone. */
  caughtUp(process: number, incarnation: number): void {
    const begun = this.#begun;
    if (begun === null || this.#processOf(begun.attempt.clone) !== process || begun.attempt.life !== incarnation)
      return;
    const { attempt, bytes } = begun;
    this.#begun = null;
    this.#remove(process, numberOf(attempt));
    const afterMs = performance.now() - this.#diedMs.get(process)!;
    this.#clones.push({ ...attempt.clone, source: attempt.source, bytes, afterMs });
    this.#untold.push(process);
    this.#schedule.back(attempt);
    if (this.#schedule.present !== null) return;
    const back = this.#untold.splice(0).sort((one, other) => one - other);
    const { report, nodes, core } = this.#parts;
    // Not sooner: another process would take the processors from those that come back.
    if (core.outcome === undefined) nodes.prepareSpare();
    report.note(`${report.names.listed(back)} came back, ${(afterMs / 1000).toFixed(2)} s after the loss`);
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
