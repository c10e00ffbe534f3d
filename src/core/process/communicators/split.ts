import { assert } from "../../base/assert.ts";
import { UNDEFINED } from "../../base/constants.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { membersOfColor } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { WordExchange } from "./word-exchange.ts";

/** MPI_Comm_split: members with the same colour, in the order of their keys (ties: of their old ranks). */
export class Split extends NewCommunicator {
  private readonly parent: Communicator;
  private readonly color: number;
  private readonly count: number;
  private readonly exchange: WordExchange;
  private members: Group | null = null;

  constructor(parent: Communicator, color: number, key: number) {
    super();
    assert(!parent.isInter, "inter-communicators are split by SplitInter");
    this.parent = parent;
    this.color = color;
    this.count = parent.nextCollective(kindCode.comm_split, unlike, unlike);
    this.exchange = new WordExchange(parent, [color, key], this.count);
  }

  override get creation(): Creation {
    return { comm: this.parent, number: this.count, kind: kindCode.comm_split };
  }

  /** All of them exchange their colours. */
  protected override get talkedWith(): Group {
    return this.parent.group;
  }

  override advance(process: Process): boolean {
    if (this.members === null) {
      const all = this.exchange.advance(process);
      if (all === null) return false;
      this.error = this.exchange.error;
      if (this.error !== 0 || this.color === UNDEFINED) return true;
      this.members = membersOfColor(this.parent.group, all, this.color);
    }
    return this.agree(process, this.members, this.parent, this.count, this.parent.context);
  }
}

saves({ Split });
