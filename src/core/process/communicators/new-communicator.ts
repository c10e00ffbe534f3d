/**
 * What every task that makes a communicator ends with: the members are known, they agree on a context, and the communicator
 * is there. The result is null for processes that are no members.
 */
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import { Task } from "../task.ts";
import { ContextAgreement } from "./context-agreement.ts";

export abstract class NewCommunicator extends Task {
  result: Communicator | null = null;
  private agreement: ContextAgreement | null = null;

  /** Everybody who must agree; an order that all of them know. */
  protected agree(process: Process, members: Group, parent: number, count: number): boolean {
    // The two sides of an inter-communicator have no board.
    const wantsBoard = this.sides(members).remote === null;
    this.agreement ??= new ContextAgreement(members, parent, count, wantsBoard);
    const agreed = this.agreement.advance(process);
    if (agreed === null) return false;
    this.error = agreed.error;
    if (agreed.error !== 0) return true;
    const { group, remote } = this.sides(members);
    this.result = process.addCommunicator(agreed.context, group, remote, agreed.board);
    return true;
  }

  /** The groups of the new communicator, once its members have agreed. */
  protected sides(members: Group): { group: Group; remote: Group | null } {
    return { group: members, remote: null };
  }
}
