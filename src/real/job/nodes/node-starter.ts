/**
 * How a process comes to be that will be a node: the seam between a job and machines. The job asks a starter for a process and expects
 * its call (control-link/node-door.ts); everything else between the two crosses that link. What only the starter can know or do of
 * the process is in `StartedNode`; of a node that came by other means there is none, and its link is all that there is.
 */
import type { Readable } from "node:stream";
import type { NodeLoss } from "../../../core/service/outcome.ts";
import type { Invitation } from "../../control-link/invitation.ts";

export interface NodeStarter {
  /**
   * Starts a process. It must be given the invitation so that no other user of a machine can read it: not as an argument, not in its
   * environment. No invitation (null): the process must end. `number` is that of the invitation, which comes later. Returns null where
   * nothing is known of the process: it will call, and be gone when its link is.
   */
  start(number: number, invitation: Promise<Invitation | null>): StartedNode | null;
}

export type NodeSignal = "SIGKILL" | "SIGSTOP" | "SIGCONT";

export interface StartedNode {
  /** On this machine; undefined: none of its processes is the node's. */
  readonly pid: number | undefined;
  readonly isAlive: boolean;
  /** What was printed past the ranks' own paths; null: it cannot be had. */
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** The process is gone, and why. */
  readonly exited: Promise<NodeLoss>;
  /** After that: both streams have been read to their end. */
  readonly streamsEnded: Promise<void>;
  /** What the operating system has seen it do, see `DispatcherPorts.work`. */
  work(): number;
  /** To the process and every program that its ranks have started. False: it is gone. */
  signal(signal: NodeSignal): boolean;
}
