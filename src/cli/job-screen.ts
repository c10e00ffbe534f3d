/**
 * The terminal of a job. Where standard error is one, and nobody asked for quiet, a line says how the job is getting on while the
 * program prints nothing (status-line.ts); otherwise there is nothing but the streams.
 */
import type { Readable, Writable } from "node:stream";
import { secondsText } from "../core/base/amounts.ts";
import type { RunningJob } from "../real/job/launch.ts";
import type { JobEvent } from "../real/job/report/job-event.ts";
import { JobStatus } from "./job-status.ts";
import { StatusLine } from "./status-line.ts";

export interface JobStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

const renewMs = 250;

export class JobScreen {
  readonly streams: JobStreams;
  /** Null: none is shown. */
  readonly #line: StatusLine | null;
  #status: JobStatus | null = null;
  #job: RunningJob | null = null;
  #renewing: NodeJS.Timeout | undefined;

  constructor({ isQuiet }: { readonly isQuiet: boolean }) {
    const { stdin, stdout, stderr } = process;
    const isShown = stderr.isTTY === true && !isQuiet && process.env["TERM"] !== "dumb";
    const text = (columns: number): string => this.#text(columns);
    const line = isShown ? new StatusLine({ terminal: stderr, nowMs: () => performance.now(), text }) : null;
    this.#line = line;
    this.streams = {
      stdin,
      stdout: line !== null && stdout.isTTY === true ? line.stream(stdout) : stdout,
      stderr: line !== null ? line.stream(stderr) : stderr,
    };
  }

  begin(job: RunningJob): void {
    if (this.#line === null) return;
    this.#job = job;
    this.#status = new JobStatus(job, performance.now());
    this.#renewing = setInterval(() => this.#line?.renew(), renewMs);
  }

  heard(event: JobEvent): void {
    this.#status?.heard(event);
  }

  /** To standard error. */
  write(text: string): void {
    this.streams.stderr.write(text);
  }

  /** People watch: what was lost is there again. Elsewhere the summary says it. */
  remember({ ranks, runningMs, caughtUpMs }: Extract<JobEvent, { kind: "recovered" }>): void {
    if (this.#line === null) return;
    const who = ranks.length === 1 ? `rank ${ranks[0]}` : `ranks ${ranks.join(", ")}`;
    const times = `back after ${secondsText(runningMs)}, caught up after ${secondsText(caughtUpMs)}`;
    const colour = process.env["NO_COLOR"] === undefined ? ["\x1b[32m", "\x1b[39m"] : ["", ""];
    const others = ranks.length === this.#job?.ranks ? "" : "; the others never stopped";
    this.write(`${colour[0]}banyan: ✔ ${who} ${times}${others}${colour[1]}\n`);
  }

  end(): void {
    clearInterval(this.#renewing);
    this.#line?.hide();
  }

  #text(columns: number): string {
    const [status, job] = [this.#status, this.#job];
    // What is typed would be written over.
    if (status === null || job === null || job.progress.asksForInput) return "";
    return status.text(performance.now(), job.progress, columns);
  }
}
