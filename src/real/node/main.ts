/**
 * The process of a node: is invited by the process that started it, or offers itself on behalf of it, calls the dispatcher, and becomes a
 * node when it is told to.
 *
 * It never outlives the dispatcher: when the link closes it is gone within milliseconds, with every program that its ranks have started.
 */

import { existsSync, mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSystemError } from "../../core/base/system-error.ts";
import { ranksOfNode } from "../../core/service/placement.ts";
import type { KeepCache } from "../../v8/cached-bundle.ts";
import { ReadyMemory } from "../cloning/ready-memory.ts";
import { WaitingThreads } from "../cloning/waiting-threads.ts";
import { callDispatcher } from "../control-link/call-dispatcher.ts";
import { ControlLink } from "../control-link/control-link.ts";
import { DispatcherWatch } from "../control-link/dispatcher-watch.ts";
import { type Invitation, readInvitation } from "../control-link/invitation.ts";
import { knock } from "../control-link/knock.ts";
import {
  fromNodeBounds,
  type NodePlace,
  toNewNode,
  toNodeBounds,
  toNodeShapes,
} from "../control-link/message-shapes.ts";
import { restoreLateVariables } from "../machine/late-variables.ts";
import { shortageOf, tryToAllocate } from "../machine/memory-shortage.ts";
import type { FromNode, Setup, ToNode } from "../messages/node-messages.ts";
import { type FromVolunteer, idleBeatMs } from "../messages/volunteer-messages.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./agent-parts.ts";

restoreLateVariables(process.env);

/** Given by start.ts. */
declare const keepCache: KeepCache;

/** Of the job, given by the process that started this one on the dispatcher's machine: removed if the dispatcher is gone. Empty: none. */
const jobFolder = process.argv[2] ?? "";
/** Of this node; empty: it has none yet. */
let ownFolder = "";

/** In the job's folder if that is there, else beside other temporary files. Throws the system's errors. */
function makeOwnFolder(): string {
  const beside = jobFolder !== "" && existsSync(jobFolder) ? join(jobFolder, "node-") : join(tmpdir(), "banyan-node-");
  ownFolder = mkdtempSync(beside);
  return ownFolder;
}

function removeOwn(folder: string): void {
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
}

/**
 * Ends the node and every program its ranks have started: they are one process group. (`process.exit` would wait for the
 * threads, and one in native code never comes.)
 */
function killSelf(): never {
  process.kill(0, "SIGKILL");
  for (;;);
}

/** So long a node that has lost its link asks whether the dispatcher is gone as well; then it ends in any case. */
const askMsMax = 500;

/** The dispatcher is gone, and no other process will remove the folder that it has left. */
function orphaned(): never {
  removeOwn(jobFolder);
  return fenced();
}

function fenced(): never {
  removeOwn(ownFolder);
  return killSelf();
}

/**
 * The dispatcher cannot be told anything, so nothing is worth finishing. If the dispatcher lives and only the link is lost, the job goes on without
 * this node: nothing but the node's own folder may be removed.
 */
async function abandoned(place: Invitation): Promise<never> {
  setTimeout(fenced, askMsMax);
  let answer = await knock(place, askMsMax);
  while (answer === "leaving") answer = await knock(place, askMsMax);
  return answer === "refused" ? orphaned() : fenced();
}

/** Of a process that offers itself: to the command that has started it. Others have none. */
function tell(message: FromVolunteer, then: () => void = () => {}): void {
  if (process.send === undefined) then();
  else process.send(message, undefined, {}, then);
}

/** A node of the job that has invited it, as soon as it is told which. */
class NodeMain {
  readonly #link: ControlLink<FromNode, ToNode>;
  readonly #watch: DispatcherWatch;
  readonly #options: Omit<AgentOptions, "folder">;
  /** Null: it has not been set up, or could not be and has said so. */
  #agent: Agent | null = null;
  /** It offers itself to the job, which has not started it. */
  readonly #isVolunteer: boolean;
  /** The ranks that messages may be about, with all that it depends on; null: it has not been set up. */
  #place: NodePlace | null = null;
  /** Signs of life of a process that waits for a place; an agent gives its own. */
  #idling: NodeJS.Timeout | undefined;
  /** Called when the link closes. */
  #end: () => void;

  constructor(invitation: Invitation, { socket, queue }: Connection) {
    const { host, port, jobId, secret } = invitation;
    this.#isVolunteer = invitation.number === 0;
    const abandon = (): void => void abandoned(invitation);
    this.#end = abandon;
    this.#watch = new DispatcherWatch({ host, port, gone: abandon });
    this.#link = new ControlLink<FromNode, ToNode>({
      socket,
      queue,
      sends: fromNodeBounds,
      hears: toNodeBounds,
      heard: () => this.#watch.heard(),
      said: (message) => this.#said(message),
      unsendable: (problem) => this.#link.send({ kind: "unable", why: `it cannot send ${problem}` }),
      closed: ({ kind, why }) => {
        // Only this node knows why: the dispatcher sees a node that goes.
        if (kind === "cut") writeSync(2, `banyan: a node cannot go on with what the dispatcher tells it: ${why}\n`);
        this.#end();
      },
    });
    const job = { id: jobId, secret };
    this.#options = {
      job,
      dispatcher: { name: "the dispatcher", address: { host, port }, job },
      // Others reach this machine where the dispatcher does.
      host: socket.localAddress!,
      readyMemory: new ReadyMemory(),
      receivers: new WaitingThreads("clone-receiver.cjs"),
      send: (message) => this.#link.send(message),
      isSaying: () => !this.#link.isIdle,
      leave: (how) => this.#leave(how === "in order" ? () => process.exit(0) : killSelf),
    };
    this.#link.expect(toNewNode);
    if (!this.#isVolunteer) return;
    process.on("SIGTERM", () => this.#wantToLeave());
    const sign = { kind: "heartbeat", passed: [], over: 0, packets: 0, usedMb: 0 } as const;
    this.#idling = setInterval(() => this.#link.send(sign), idleBeatMs);
  }

  /** A process that waits for a place just goes. */
  #wantToLeave(): void {
    if (this.#agent === null) this.#leave(() => process.exit(0));
    else this.#agent.wantToLeave();
  }

  #said(message: ToNode): void {
    if (message.kind === "end") {
      keepCache();
      tell({ kind: "over" });
    }
    if (message.kind === "reserve") this.#options.receivers.prepare();
    else if (message.kind === "reserve-memory") this.#options.readyMemory.prepare(message);
    else if (message.kind === "setup") this.#begin(message);
    else if (message.kind === "dismissed") tell({ kind: "dismissed", why: message.why }, fenced);
    else if (this.#agent !== null) {
      if (message.kind === "adopt-rank") this.#hears(message.rank);
      this.#agent.handle(message);
    } else if (message.kind === "end") this.#leave(() => process.exit(0));
  }

  /** One more rank has its place here. */
  #hears(rank: number): void {
    this.#place = { ...this.#place!, here: [...this.#place!.here, rank] };
    this.#link.expect(toNodeShapes(this.#place));
  }

  #begin(setup: Setup): void {
    const { node, placement, recovery, protocol, dispatcherQuietMs } = setup;
    clearInterval(this.#idling);
    this.#watch.quietIs(dispatcherQuietMs);
    const here = ranksOfNode(placement, node);
    tell({ kind: "node", node, ranks: here.filter((rank) => rank < setup.ranks) });
    this.#place = { processes: placement.length, here, recovers: recovery !== null, protocol };
    this.#link.expect(toNodeShapes(this.#place));
    // Where lost ranks begin again, or all can be moved. A second signal ends the node, as the first one does elsewhere.
    const canGo = recovery !== null || (setup.freezeTo !== "" && setup.replicas === null);
    if (!this.#isVolunteer && canGo) process.once("SIGTERM", () => this.#wantToLeave());
    const started = this.#start(setup);
    const what = setup.program.language === "c" ? "memory for each rank" : "shared memory";
    if (started instanceof Agent) this.#agent = started;
    else {
      const why = started ?? shortageOf(`its ${setup.memoryMb} MB of ${what}`);
      this.#link.send({ kind: "unable", why });
    }
  }

  /** A text: why it cannot; undefined: its memory cannot be had. */
  #start(setup: Setup): Agent | string | undefined {
    let folder: string;
    try {
      folder = makeOwnFolder();
    } catch (error) {
      return `it cannot make a folder of its own: ${describeSystemError(error)}; let TMPDIR name one that can be written to`;
    }
    return tryToAllocate(() => new Agent(setup, { ...this.#options, folder }));
  }

  /** When the dispatcher has everything: what a process has not sent yet may be lost with it. */
  #leave(end: () => never): void {
    this.#end = () => {
      removeOwn(ownFolder);
      return end();
    };
    this.#link.end();
  }
}

type Connection = Extract<Awaited<ReturnType<typeof callDispatcher>>, { ok: true }>;

async function joinJob(invitation: Invitation): Promise<void> {
  const called = await callDispatcher(invitation);
  if (called.ok) {
    if (invitation.number === 0) tell({ kind: "joined", number: called.number });
    new NodeMain(invitation, called);
  } else if (invitation.number === 0) {
    if (called.failure === "refused" && invitation.had > 0) {
      tell({ kind: "not-back" });
      await joinJob({ ...invitation, had: 0 });
    } else tell({ kind: "failed", why: called.why, isGone: called.failure === "gone" }, fenced);
  } else {
    const { host, port } = invitation;
    if (called.failure === "lost")
      writeSync(2, `banyan: a node cannot reach the dispatcher at ${host}:${port}: ${called.why}\n`);
    await abandoned(invitation);
  }
}

// It may be in reserve for a node that is lost.
process.title = "banyan-node spare";
const invitation = readInvitation();
if (invitation === null) orphaned();
// The command is gone, and whoever ended it meant its node.
if (invitation.number === 0) process.on("disconnect", fenced);
void joinJob(invitation);
