import { UNDEFINED } from "../../base/constants.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { Creation } from "../task.ts";
import { draftOf } from "./draft.ts";
import { inCommonOrder, membersOfColor, unionOf } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { WordExchange } from "./word-exchange.ts";

/** MPI_Comm_split of an inter-communicator: both sides are split by colour, and equal colours face each other. */
export class SplitInter extends NewCommunicator {
  private readonly parent: Communicator;
  private readonly color: number;
  private readonly count: number;
  private readonly exchange: WordExchange;
  private own: Group | null = null;
  private other: Group = Group.empty;

  constructor(parent: Communicator, color: number, key: number, process: Process) {
    super();
    this.parent = parent;
    this.color = color;
    this.count = parent.nextCollective(kindCode.comm_split, unlike, unlike);
    const draft = draftOf(process, parent.context, unionOf(parent));
    this.exchange = new WordExchange(draft, [color, key], this.count);
  }

  override get creation(): Creation {
    return { comm: this.parent, number: this.count, kind: kindCode.comm_split };
  }

  /** All of them exchange their colours. */
  protected override get talkedWith(): Group {
    return unionOf(this.parent);
  }

  override advance(process: Process): boolean {
    if (this.own === null) {
      const all = this.exchange.advance(process);
      if (all === null) return false;
      this.error = this.exchange.error;
      if (this.error !== 0 || this.color === UNDEFINED) return true;
      const union = unionOf(this.parent);
      const members = membersOfColor(union, all, this.color);
      this.own = members.intersection(this.parent.group);
      this.other = members.difference(this.own);
    }
    // No process of the other side has our colour: there is no inter-communicator (MPI 5.0 §7.4.2).
    if (this.other.size === 0) return true;
    const members = inCommonOrder(this.own, this.other);
    return this.agree(process, members, this.parent, this.count, this.parent.context);
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.own ?? Group.empty, remote: this.other };
  }
}

saves({ SplitInter });
