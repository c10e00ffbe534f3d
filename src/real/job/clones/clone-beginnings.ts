/** Clones begin, each on its node and with the image of its source, which has come there; each is under way until everybody knows it. */
import type { ProcessName } from "../../../core/base/identity.ts";
import type { CloneBeginning } from "../../../core/ft/clones.ts";
import { type CloneAttempt, isMove } from "../../../core/service/clone-schedule.ts";
import type { Dispatcher } from "../../../core/service/dispatcher.ts";
import type { Placement } from "../../../core/service/placement.ts";
import type { RankRestart } from "../../messages/lives.ts";
import type { RecoverySetup } from "../../messages/node-messages.ts";
import type { JobNodes } from "../nodes/job-nodes.ts";
import type { CloneNodes } from "./clone-nodes.ts";
import { type ClonePlaces, imageNumberOf } from "./clone-places.ts";

/** An image that has come, of a clone whose node may not be there yet. */
export interface ArrivedImage {
  readonly attempt: CloneAttempt;
  readonly bytes: number;
  readonly rounds: number;
  readonly copyMs: number;
  readonly inputOffset: number;
}

interface BegunClone extends ArrivedImage {
  /** The node that the process was on. */
  readonly before: number;
}

export interface CloneBeginningsOptions {
  readonly players: readonly ProcessName[];
  readonly placement: Placement;
  /** For images. */
  readonly folder: string;
}

interface CloneBeginningsParts {
  readonly core: Pick<Dispatcher, "state" | "rankReturned" | "rankMoved">;
  readonly nodes: Pick<JobNodes, "send" | "placesChanged">;
  readonly cloneNodes: Pick<CloneNodes, "starts">;
  readonly places: ClonePlaces;
  /** A process that reads standard input is back, and has everything before that place. */
  inputReturned(process: number, offset: number): void;
}

export class CloneBeginnings {
  readonly #options: CloneBeginningsOptions;
  readonly #parts: CloneBeginningsParts;
  /** The job. */
  readonly #beganMs = Date.now();
  #begun: BegunClone | null = null;
  /** When the program of the last one ran. */
  #runsMs = 0;

  constructor(options: CloneBeginningsOptions, parts: CloneBeginningsParts) {
    this.#options = options;
    this.#parts = parts;
  }

  get isUnderWay(): boolean {
    return this.#begun !== null;
  }

  get runsMs(): number {
    return this.#runsMs;
  }

  /** For a node that is about to start, or to start some ranks. */
  setup(node: number, restarts: readonly RankRestart[]): { recovery: RecoverySetup; protocolPart: undefined } {
    const { placement, folder: checkpointFolder } = this.#options;
    const recovery = {
      // Each process falls, and is captured, for itself.
      setOf: [...placement.keys()],
      incarnations: this.#parts.core.state.ranks.map(({ incarnation }) => incarnation),
      restarts,
      checkpointFolder,
      checkpointServers: [],
      beganMs: this.#beganMs,
      startsEmpty: this.#parts.cloneNodes.starts(node),
    };
    return { recovery, protocolPart: undefined };
  }

  /** Its node is there. False: it cannot begin, because the job ends or its rank does. */
  begin(arrived: ArrivedImage): boolean {
    const { core, nodes, places } = this.#parts;
    const { attempt, inputOffset } = arrived;
    const process = places.cloneOf(attempt);
    const [node, before] = [places.cloneNodeOf(attempt), places.nodeOf(process)];
    const hasBegun = isMove(attempt)
      ? core.rankMoved(process, node, attempt.life)
      : core.rankReturned(process, attempt.life);
    if (!hasBegun) return false;
    if (isMove(attempt)) {
      // Nodes hear where it is before they hear of its life there.
      nodes.placesChanged();
      nodes.send(before, { kind: "release-rank", rank: process, incarnation: attempt.life });
    }
    this.#begun = { ...arrived, before };
    if (attempt.clone.rank === 0) this.#parts.inputReturned(process, inputOffset);
    const data: CloneBeginning = { replica: attempt.clone.replica, members: this.#members() };
    const restart = { rank: process, incarnation: attempt.life, checkpoint: imageNumberOf(attempt), data };
    nodes.send(node, { kind: "restart-ranks", ranks: [process], ...this.setup(node, [restart]), watches: [] });
    return true;
  }

  #members(): CloneBeginning["members"] {
    const { ranks } = this.#parts.core.state;
    return this.#options.players.map((name, process) => {
      const { incarnation: life, state } = ranks[process]!;
      return { ...name, life, isAlive: state !== "dead" };
    });
  }

  /** The program of that process runs. */
  began(process: number, incarnation: number): void {
    if (this.#begunIn(process, incarnation) !== null) this.#runsMs = performance.now();
  }

  /** Everybody knows it. Null: it is none that has begun here. */
  caughtUp(process: number, incarnation: number): BegunClone | null {
    const begun = this.#begunIn(process, incarnation);
    if (begun !== null) this.#begun = null;
    return begun;
  }

  #begunIn(process: number, incarnation: number): BegunClone | null {
    const begun = this.#begun;
    if (begun === null || this.#parts.places.cloneOf(begun.attempt) !== process) return null;
    return begun.attempt.life === incarnation ? begun : null;
  }
}
