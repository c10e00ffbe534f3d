/** The setup of each node of a job: the job, the node's part of it, and the secret by which its processes know each other. */

import { randomBytes, randomUUID } from "node:crypto";
import { dispatcherQuietMsOf } from "../../core/service/patiences.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { FilesProof } from "../disk/same-files.ts";
import type { Setup } from "../messages/node-messages.ts";
import type { ProgramPlace } from "../messages/program-place.ts";
import { secretBytes } from "../transport/handshake/handshake.ts";
import { freezingRefusal } from "./check-options.ts";
import type { JobOptions } from "./job-options.ts";
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
  readonly seed = randomBytes(4).readInt32LE();
  /** The secret by which nodes and services of this job know each other. */
  readonly secret = { id: randomUUID(), secret: new Uint8Array(randomBytes(secretBytes)) };
  readonly #job: JobOptions;
  readonly #places: NodeSetupsPlaces;

  constructor(job: JobOptions, places: NodeSetupsPlaces) {
    this.#job = job;
    this.#places = places;
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
      placement,
      nodeMap: job.nodeMap,
      protocol: protocol.name,
      protocolOptions: job.protocolOptions,
      protocolPart,
      seed: this.seed,
      program: { path: job.displayName ?? program, bundle, args, language: languageOf(program) },
      sameFiles,
      heartbeatMs,
      dispatcherQuietMs: dispatcherQuietMsOf(job.patienceMs),
      heapMb,
      memoryMb,
      folders,
      environment: job.environment,
      freezeTo: freezingRefusal(job) === undefined ? job.jobFolder : "",
      thawFrom: job.thawFrom,
      ranksPerThread,
      traceFolder,
      port: port === 0 ? 0 : port + node,
      recovery,
      watches,
    };
  }
}
