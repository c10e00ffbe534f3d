import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { unionOf } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";

const fileSeed = 0x46494c45;

/** MPI_Comm_dup, MPI_Comm_idup; of an inter-communicator too. */
export class Duplicate extends NewCommunicator {
  private readonly parent: Communicator;
  private readonly count: number;

  /** `kind`: the collective that it is, or is the last step of. */
  constructor(parent: Communicator, kind: number = kindCode.comm_dup) {
    super();
    this.parent = parent;
    this.count = parent.nextCollective(kind, unlike, unlike);
  }

  override get creation(): Creation {
    return { comm: this.parent, number: this.count, kind: kindCode.comm_dup };
  }

  override advance(process: Process): boolean {
    return this.agree(process, unionOf(this.parent), this.parent, this.count, this.seed);
  }

  /** Of the context. Ranks with different seeds never meet. */
  protected get seed(): number {
    return this.parent.context;
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.parent.group, remote: this.parent.remote };
  }
}

/**
 * The communicator of a file that is being opened. MPI_Comm_dup at another member makes none with it: that member would not take part
 * in what follows.
 */
export class DuplicateForFile extends Duplicate {
  constructor(parent: Communicator) {
    super(parent, kindCode.file_open);
  }

  override get creation(): Creation {
    return { ...super.creation, kind: kindCode.file_open };
  }

  protected override get seed(): number {
    return super.seed ^ fileSeed;
  }
}

saves({ Duplicate, DuplicateForFile });
