/**
 * The last step of every task that makes a communicator: the members are known, they agree on a context, and the communicator
 * is there. The result is null for processes that are no members.
 */
import { ErrorClass } from "../../base/mpi-error.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import { Task } from "../task.ts";
import { ContextAgreement } from "./context-agreement.ts";

export abstract class NewCommunicator extends Task {
  result: Communicator | null = null;
  private agreement: ContextAgreement | null = null;

  /**
   * `members`: all processes that must agree, in an order that all of them know. The context follows from `count` and `seed`. With
   * the communicator that they come from revoked there will be none.
   */
  protected agree(process: Process, members: Group, from: Communicator, count: number, seed = from.context): boolean {
    // Of a communicator that the program has freed meanwhile only the context is heard of.
    const isRevoked = process.revocations.has(from.context);
    if (isRevoked && this.agreement === null) {
      this.error = ErrorClass.REVOKED;
      return true;
    }
    // The two sides of an inter-communicator have no board.
    const wantsBoard = this.sides(members).remote === null;
    this.agreement ??= new ContextAgreement(members, seed, count, wantsBoard);
    if (isRevoked) this.agreement.giveUp(process);
    const agreed = this.agreement.advance(process);
    if (agreed === null) return false;
    this.error = agreed.error;
    if (agreed.error !== 0) return true;
    const { group, remote } = this.sides(members);
    this.result = process.addCommunicator(agreed.context, group, remote, agreed.board);
    return true;
  }

  /** Of a task that is a collective on a communicator (`creation`): its messages there have its number as their tag. */
  override isStep(comm: Communicator, tag: number): boolean {
    const { creation } = this;
    if (comm.context === creation?.comm.context && tag === creation.number) return true;
    return this.agreement?.talksIn(comm) === true;
  }

  /** The groups of the new communicator, once its members have agreed. */
  protected sides(members: Group): { group: Group; remote: Group | null } {
    return { group: members, remote: null };
  }
}
