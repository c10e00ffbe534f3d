/** The setup of each node of a job: the job, the node's part of it, and the secret by which its processes know each other. */

import { randomBytes, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Terminals } from "../../core/base/terminals.ts";
import { dispatcherQuietMsOf } from "../../core/service/patiences.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { FilesProof } from "../disk/same-files.ts";
import type { Setup } from "../messages/node-messages.ts";
import type { OtherProgram, ProgramPlace } from "../messages/program-place.ts";
import { secretBytes } from "../transport/handshake/handshake.ts";
import { captureRefusal, freezingRefusal } from "./check-options.ts";
import { otherModuleOf } from "./folder/job-folder.ts";
import { absentOf, type JobOptions, takesWorldCheckpoints } from "./job-options.ts";
import { languageOf } from "./programs/program-compile.ts";

interface NodeSetupsPlaces {
  /** Of each process that there can be. */
  readonly placement: Placement;
  /** Where the program will be. */
  readonly bundle: ProgramPlace["bundle"];
  /** For the ranks' traces; empty when there is no trace. */
  readonly traceFolder: string;
  /** See `Setup`. */
  readonly sameFiles: FilesProof | null;
}

export class NodeSetups {
  /** The secret by which nodes and services of this job know each other. */
  readonly secret = { id: randomUUID(), secret: new Uint8Array(randomBytes(secretBytes)) };
  readonly #job: JobOptions;
  readonly #places: NodeSetupsPlaces;

  constructor(job: JobOptions, places: NodeSetupsPlaces) {
    this.#job = job;
    this.#places = places;
  }

  #others(): OtherProgram[] {
    const { ranks, replicas, others } = this.#job;
    const { bundle } = this.#places;
    let firstRank = (replicas?.length ?? ranks) - others.reduce((sum, other) => sum + other.ranks, 0);
    return others.map(({ program: path, args, ranks: count }, index) => {
      const wasm = otherModuleOf(dirname(bundle.wasm), index);
      const other = { firstRank, program: { path, bundle: { ...bundle, wasm }, args, language: "c" as const } };
      firstRank += count;
      return other;
    });
  }

  /** Of that node; what depends on the moment is given. */
  of(node: number, { recovery, protocolPart, watches }: Pick<Setup, "recovery" | "protocolPart" | "watches">): Setup {
    const job = this.#job;
    const { placement, bundle, traceFolder, sameFiles } = this.#places;
    const { ranks, protocol, heartbeatMs, heapMb, memoryMb, folders, ranksPerThread, port, program, args } = job;
    return {
      kind: "setup",
      node,
      ranks,
      replicas: job.replicas,
      hostName: job.replicas === null ? null : hostname(),
      placement,
      nodeMap: job.nodeMap,
      protocol: protocol.name,
      protocolOptions: job.protocolOptions,
      protocolPart,
      seed: job.seed,
      beganMs: job.beganMs,
      program: { path: job.displayName ?? program, bundle, args, language: languageOf(program) },
      others: this.#others(),
      sameFiles,
      heartbeatMs,
      dispatcherQuietMs: dispatcherQuietMsOf(job.patienceMs),
      heapMb,
      memoryMb,
      folders,
      environment: job.environment,
      terminals: terminalsOf(job),
      isDebugged: job.debugPort !== 0,
      // Beside the program: where all that is needed to go on is.
      freezeTo: captureRefusal(job) === undefined || takesWorldCheckpoints(job) ? dirname(bundle.wasm) : "",
      thawFrom: job.thawFrom,
      mustFreeze: freezingRefusal(job) === undefined || takesWorldCheckpoints(job),
      isMoved: job.isMoved,
      absent: absentOf(job),
      ranksPerThread,
      traceFolder,
      port: port === 0 ? 0 : port + node,
      recovery,
      watches,
    };
  }
}

function terminalsOf({ stdin, stdout, stderr }: JobOptions): Terminals {
  return { stdin: isTerminal(stdin), stdout: isTerminal(stdout), stderr: isTerminal(stderr) };
}

const isTerminal = (stream: object | undefined): boolean =>
  stream !== undefined && "isTTY" in stream && stream.isTTY === true;
