/**
 * The part of a protocol for the whole job, in a real job: its pure part (`JobPart`) and what that needs of this machine, such as
 * processes of its own. One function of the protocol's folder in `real/` makes it.
 */
import type { Service } from "../../core/fault/plan.ts";
import type { JobPart, JobPartPorts } from "../../core/ft/job-part.ts";
import type { LoggingSetup, ToNode } from "../node/messages.ts";

export interface JobPartHost<Report> {
  readonly part: Omit<JobPart, "forNode" | "tick" | "nextTimeMs">;
  /** For the setup of a node that is about to start, or to restart some ranks. */
  forNode(node: number, restarting: readonly number[]): ProtocolSetup;
  /** A node has been started, or another in its place. */
  nodeStarted(node: number): void;
  /** All ranks of the job have begun: what comes up in reserve takes the processor from nobody who starts. */
  allBegan(): void;
  /** Called every heartbeat; so much time has passed in which the dispatcher was awake. */
  tick(nowMs: number, stepMs: number): void;
  /** For fault plans: kills a process of the protocol's own. False: that service is none of them, or is gone. */
  kill(service: Service): boolean;
  /** The job is over. Fulfilled when nothing is left of it. */
  end(): Promise<void>;
  /** After the end. */
  readonly report: Report;
}

/** What the setup of a node has of the protocol. */
export type ProtocolSetup = Pick<LoggingSetup, "streams" | "spillFolder" | "logBytesMax">;

export interface JobPartHostPorts extends Omit<JobPartPorts, "toNode"> {
  toNode(node: number, message: ToNode): void;
  toNodes(message: ToNode): void;
  /** The protocol cannot do its work: the job ends with that line. */
  unusable(message: string): void;
}
