/** The services of a job beside its nodes: the host of its files, checkpoint servers, and slow links where a fault plan wants them. */
import type { Link } from "../../core/fault/action.ts";
import type { FaultPlan } from "../../core/fault/plan.ts";
import { FileHost } from "../file-service/host.ts";
import type { ToNode } from "../messages/node-messages.ts";
import { SlowLinks } from "../slow-links/slow-links.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";
import { filePlaces } from "./folder/file-places.ts";
import type { JobFolders } from "./folder/job-folders.ts";
import type { JobOptions } from "./job-options.ts";
import { CheckpointServers } from "./recovery/checkpoint-servers.ts";

interface JobServicesOptions {
  readonly folders: JobFolders;
  readonly secret: JobSecret;
  /** For the ranks' traces; empty: there is no trace. */
  readonly traceFolder: string;
}

interface JobServicesPorts {
  toNodes(message: ToNode): void;
  note(message: string): void;
  /** The job ends with that line. */
  unusable(message: string): void;
}

export class JobServices {
  /** For nodes that do not see the job's files. */
  readonly files: FileHost;
  readonly checkpointServers: CheckpointServers;
  /** Null: no link is to be slow. */
  readonly links: SlowLinks | null;

  constructor(job: JobOptions, { folders, secret, traceFolder }: JobServicesOptions, ports: JobServicesPorts) {
    const { host, nodes, checkpoints, faults } = job;
    this.files = filesOf(job, folders, traceFolder);
    this.links =
      faults !== null && delaysLinks(faults)
        ? new SlowLinks(nodes, (why) => ports.unusable(`Cannot delay links: ${why}`), host)
        : null;
    this.checkpointServers = new CheckpointServers(
      { job: secret, host, lasting: folders.lasting, servers: checkpoints.servers },
      {
        listen: (addresses) => ports.toNodes({ kind: "checkpoint-servers", addresses }),
        note: (message) => ports.note(message),
      },
    );
  }

  /** Everything on that link takes so much longer. */
  delay(link: Link, byMs: number): void {
    this.links?.delay(link, byMs);
  }
}

function filesOf({ folder, thawFrom, checkpoints }: JobOptions, folders: JobFolders, traces: string): FileHost {
  const placeOf = filePlaces({
    program: folders.lasting,
    spawned: folder,
    traces,
    checkpoints: checkpoints.servers === 0 ? folders.checkpoints : "",
    freezeTo: folders.lasting,
    thawFrom,
  });
  // Images are read back before they count: those of checkpoints by recovery, those of frozen jobs by a thaw.
  return new FileHost({ placeOf, verify: () => Promise.resolve("") });
}

const delaysLinks = ({ entries }: FaultPlan): boolean =>
  entries.some((entry) => entry.kind === "fault" && entry.fault.kind === "delay");
