/** X2: the lock of the shared pointer where lives are replayed. The life of one member ends between any two steps, the other's does not. */
import { deepEqual, equal, throws } from "node:assert/strict";
import { describe, it } from "node:test";
import type { WorldRank } from "../../core/base/brand.ts";
import { ErrorClass } from "../../core/base/mpi-error.ts";
import { Group } from "../../core/comm/group.ts";
import { Info } from "../../core/comm/info.ts";
import type { Choices, Outcome } from "../../core/ft/choices.ts";
import { Communicator } from "../../core/process/communicator.ts";
import { nodeMapOf } from "../../core/process/node-map.ts";
import { FileSystem } from "../../sim/outside/file-system.ts";
import { Descriptors } from "../../wasi/descriptors.ts";
import type { Files } from "../../wasi/ports.ts";
import { Handles, Kind } from "../handles/handles.ts";
import { ReplayedFiles } from "../replay/replayed-files.ts";
import { CFile, NoFile } from "./file.ts";
import type { FileUser } from "./file-user.ts";
import { Mode } from "./mode.ts";
import { ProgramFiles } from "./program-files.ts";
import { advanceShared, forgetOwn, forgetShared, locked } from "./shared-pointer.ts";

class Crash extends Error {}
/** The lock is another member's. */
class Waits extends Error {}

const nodeMap = nodeMapOf([0, 1]);
const group = Group.world(2);

/** One member in all its lives. */
class Member {
  readonly #system: FileSystem;
  readonly #rank: number;
  readonly #outcomes: Outcome[] = [];
  #next = 0;
  /** So many outcomes survive a crash. */
  #stable = 0;
  /** Called before each change of a file, with the number of changes that are left. */
  before: (stepsLeft: number) => void = () => {};
  /** How many changes of files this life does before it ends. */
  stepsLeft = Number.POSITIVE_INFINITY;
  #isDead = false;
  /** How often this life has found the lock taken, and how often an earlier one. */
  #waits = 0;
  #waitsBefore = 0;

  constructor(system: FileSystem, rank: number) {
    this.#system = system;
    this.#rank = rank;
  }

  /** Everything that was chosen is stable. */
  #choices(): Choices {
    const add = (outcome: Outcome): void => {
      if (this.#isDead) return;
      this.#outcomes.push(outcome);
      this.#next++;
    };
    return {
      isReady: true,
      replay: () => (this.#next < this.#outcomes.length ? this.#outcomes[this.#next++] : undefined),
      made: (_, outcome) => add([...outcome]),
      nothing: () => add(null),
    };
  }

  /** The outcomes that were not stable when the last life ended are lost. */
  forget(): void {
    this.#outcomes.length = this.#stable;
  }

  live<T>(act: (program: FileUser, file: CFile) => T): T {
    this.#next = 0;
    this.#isDead = false;
    this.#waits = 0;
    const files: Files = new ReplayedFiles({
      files: this.#system,
      choices: this.#choices(),
      mayLeave: () => {
        this.before(this.stepsLeft);
        this.#isDead ||= this.stepsLeft-- === 0;
        if (this.#isDead) throw new Crash();
        this.#stable = this.#outcomes.length;
      },
      beganMs: 0,
    });
    const noFile = new NoFile();
    const program: FileUser = {
      disk: new ProgramFiles({ files, descriptors: new Descriptors(files, []), run: "a run" }),
      files: new Handles<CFile>({ kind: Kind.FILE, name: "file", errorClass: ErrorClass.FILE }),
      noFile,
      operations: {
        freeCommunicator() {},
        failedOf: () => Group.empty,
        look: () => {
          if (++this.#waits <= this.#waitsBefore) return;
          this.#waitsBefore++;
          throw new Waits();
        },
      },
    };
    const comm = new Communicator({ context: 8, group, world: this.#rank as WorldRank, nodeMap });
    const { errorHandler } = noFile;
    const mode = Mode.CREATE | Mode.RDWR;
    const file = new CFile({ comm, name: "f", path: "/f", descriptor: 9, mode, info: new Info(), errorHandler });
    try {
      return act(program, file);
    } catch (error) {
      throw this.#isDead ? new Crash() : error;
    }
  }
}

const inside = (program: FileUser, file: CFile): string => locked(program, file, () => "inside");

describe("the lock of a shared file pointer under replay", () => {
  it("X2: a member that fell before it locked does not take the lock of another member for its own", () => {
    let meetings = 0;
    for (let step = 0; step < 4; step++) {
      const system = new FileSystem(() => 0n);
      const [first, second] = [new Member(system, 0), new Member(system, 1)];
      first.stepsLeft = step;
      throws(() => first.live(inside), Crash);
      first.stepsLeft = Number.POSITIVE_INFINITY;
      const meet = (program: FileUser, file: CFile): void =>
        locked(program, file, () => {
          meetings++;
          throws(() => first.live(inside), Waits, `a crash at step ${step}`);
        });
      attempt(() => second.live(meet));
    }
    // Among them a crash between the decision to lock and the lock.
    equal(meetings, 4);
  });

  it("X2: a lock that was another's at the decision, and taken when it was free, is known for its own", () => {
    const system = new FileSystem(() => 0n);
    const [first, second] = [new Member(system, 0), new Member(system, 1)];
    // It falls before it gives the lock back.
    second.stepsLeft = 4;
    throws(() => second.live(inside), Crash);
    second.stepsLeft = Number.POSITIVE_INFINITY;
    // The other has decided to lock: now the lock is given back.
    first.before = (left) => {
      if (left === 1) equal(second.live(inside), "inside");
    };
    first.stepsLeft = 4;
    throws(() => first.live(inside), Crash);
    first.forget();
    first.stepsLeft = Number.POSITIVE_INFINITY;
    equal(first.live(inside), "inside");
  });

  it("X2: wherever a life ends, both members move the pointer once, and no file of ours is left", () => {
    let crashes = 0;
    for (let step = 0; ; step++) {
      const system = new FileSystem(() => 0n);
      const [first, second] = [new Member(system, 0), new Member(system, 1)];
      const move = (program: FileUser, file: CFile): number[] => [
        advanceShared(program, file, 10),
        advanceShared(program, file, 10),
      ];
      const moved: number[] = [];
      first.stepsLeft = step;
      let hasCrashed = false;
      try {
        moved.push(...first.live(move));
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        hasCrashed = true;
        crashes++;
      }
      first.stepsLeft = Number.POSITIVE_INFINITY;
      // The other member waits where the dead one has the lock, and comes again.
      const early = attempt(() => second.live(move));
      if (hasCrashed) moved.push(...first.live(move));
      moved.push(...(early ?? second.live(move)));
      deepEqual(
        [...moved].sort((a, b) => a - b),
        [0, 10, 20, 30],
        `a crash at step ${step}`,
      );
      second.live((program, file) => {
        move(program, file);
        forgetOwn(program, file);
      });
      first.live((program, file) => {
        move(program, file);
        forgetOwn(program, file);
        forgetShared(program, file);
      });
      deepEqual(system.paths(), []);
      if (!hasCrashed) break;
    }
    equal(crashes > 5, true, `${crashes} crashes`);
  });
});

/** Undefined: it would wait. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Waits) return undefined;
    throw error;
  }
}
