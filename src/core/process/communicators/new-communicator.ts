/**
 * The last step of every task that makes a communicator: the members are known, they agree on a context, and the communicator
 * is there. The result is null for processes that are no members.
 *
 * When a process dies that takes part, every other one that is not through ends with PROC_FAILED as soon as it hears of the death, by
 * itself: no member waits for another that has given up. Some members may have the communicator then and others an error.
 */
import { ErrorClass } from "../../base/mpi-error.ts";
import type { Group } from "../../comm/group.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import { Task } from "../task.ts";
import { ContextAgreement } from "./context-agreement.ts";

export const noContext = 0;

export abstract class NewCommunicator extends Task {
  result: Communicator | null = null;
  private agreement: ContextAgreement | null = null;

  /**
   * `members`: all processes that must agree, in an order that all of them know. The context follows from `count` and `seed`. With
   * the communicator that they come from revoked there will be none; null: they come from none.
   */
  protected agree(process: Process, members: Group, from: Communicator | null, count: number, seed: number): boolean {
    const { revocations, failures } = process;
    // Of a communicator that the program has freed meanwhile only the context is heard of.
    const isRevoked = from !== null && revocations.has(from.context);
    const hasFailed = failures.count !== 0 && this.hasDead(process, members);
    const isInter = this.sides(members).remote !== null;
    // Members that are in no communicator with us need to be told of the revocation.
    if (this.agreement === null && (hasFailed || (isRevoked && !isInter))) {
      this.error = isRevoked ? ErrorClass.REVOKED : ErrorClass.PROC_FAILED;
      return true;
    }
    // The two sides of an inter-communicator have no board.
    this.agreement ??= new ContextAgreement(members, seed, count, !isInter);
    if (isRevoked || revocations.isGivenUp(this.agreement.context)) this.agreement.giveUp(process);
    if (hasFailed) this.agreement.peerFailed(process);
    const agreed = this.agreement.advance(process);
    if (agreed === null) return false;
    this.error = agreed.error;
    if (agreed.error !== 0) return true;
    const { group, remote } = this.sides(members);
    this.result = process.addCommunicator(agreed.context, group, remote, agreed.board);
    return true;
  }

  private hasDead({ failures }: Process, members: Group): boolean {
    const { talkedWith } = this;
    return failures.ranks.some((rank) => members.has(rank) || talkedWith?.has(rank) === true);
  }

  /** Processes that had to take part before the members were known; null: none but the members. */
  protected get talkedWith(): Group | null {
    return null;
  }

  /** The context in which the members tried to agree last, if they did. */
  protected get lastContext(): number {
    return this.agreement?.context ?? noContext;
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
