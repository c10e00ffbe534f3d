import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { unionOf } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";

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
    return this.agree(process, unionOf(this.parent), this.parent, this.count, this.parent.context);
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.parent.group, remote: this.parent.remote };
  }
}

saves({ Duplicate });
