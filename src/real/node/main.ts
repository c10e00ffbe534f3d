/**
 * The process of a node: is invited by whoever started it, calls the dispatcher, and becomes a node when it is told to.
 *
 * It never outlives the dispatcher: when the link closes it is gone within milliseconds, with every program that its ranks have started.
 */
import { rmSync } from "node:fs";
import { ranksOfNode } from "../../core/service/placement.ts";
import { setFlagsFor } from "../../v8/flags.ts";
import { callDispatcher } from "../control-link/call-dispatcher.ts";
import { ControlLink } from "../control-link/control-link.ts";
import { type Invitation, readInvitation } from "../control-link/invitation.ts";
import { fromNodeBounds, toNewNode, toNodeBounds, toNodeShapes } from "../control-link/message-shapes.ts";
import { Agent, type AgentOptions, tryTo } from "./agent.ts";
import { shortageOf } from "./memory-shortage.ts";
import type { FromNode, Setup, ToNode } from "./messages.ts";

/** Of the job; removed if the dispatcher is gone. Empty: none. */
const folder = process.argv[2] ?? "";

/**
 * Ends the node and every program its ranks have started: they are one process group. (`process.exit` would wait for the
 * threads, and one in native code never comes.)
 */
function killSelf(): never {
  process.kill(0, "SIGKILL");
  for (;;);
}

/** The dispatcher is gone: nobody can be told anything, so nothing is worth finishing. */
function abandoned(): never {
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
  return killSelf();
}

/** A node of the job that has invited it, as soon as it is told which. */
class NodeMain {
  readonly #link: ControlLink<FromNode, ToNode>;
  readonly #options: AgentOptions;
  /** Null: it has not been set up, or could not be and has said so. */
  #agent: Agent | null = null;
  /** What is done when the link closes. */
  #end: () => never = abandoned;

  constructor({ jobId, secret }: Invitation, { socket, queue }: Connection) {
    this.#link = new ControlLink<FromNode, ToNode>({
      ...{ socket, queue, sends: fromNodeBounds, hears: toNodeBounds },
      said: (message) => this.#said(message),
      closed: () => this.#end(),
    });
    this.#options = {
      job: { id: jobId, secret },
      // Others reach this machine where the dispatcher does.
      host: socket.localAddress!,
      send: (message) => this.#link.send(message),
      leave: (how) => this.#leave(how === "in order" ? () => process.exit(0) : killSelf),
    };
    this.#link.expect(toNewNode);
  }

  #said(message: ToNode): void {
    if (message.kind === "setup") this.#begin(message);
    else if (this.#agent !== null) this.#agent.handle(message);
    else if (message.kind === "end") this.#leave(() => process.exit(0));
  }

  #begin(setup: Setup): void {
    const { node, nodeOf, recovery } = setup;
    const here = ranksOfNode(nodeOf, node);
    this.#link.expect(toNodeShapes({ processes: nodeOf.length, here, recovers: recovery !== null }));
    const started = tryTo(() => new Agent(setup, this.#options));
    const what = setup.program.language === "c" ? "memory for each rank" : "shared memory";
    if (started !== undefined) this.#agent = started;
    else this.#link.send({ kind: "unable", why: shortageOf(`its ${setup.memoryMb} MB of ${what}`) });
  }

  /** When the dispatcher has everything: what a process has not sent yet may be lost with it. */
  #leave(end: () => never): void {
    this.#end = end;
    this.#link.end();
  }
}

type Connection = Extract<Awaited<ReturnType<typeof callDispatcher>>, { ok: true }>;

async function join(invitation: Invitation): Promise<void> {
  const called = await callDispatcher(invitation);
  if (called.ok) new NodeMain(invitation, called);
  else {
    const { host, port } = invitation;
    if (!called.final) process.stderr.write(`banyan: Cannot reach the dispatcher at ${host}:${port}: ${called.why}\n`);
    abandoned();
  }
}

// Before a thread starts.
setFlagsFor("optimise early");
// It may be in reserve for a node that is lost.
process.title = "banyan-node spare";
const invitation = readInvitation();
if (invitation === null) abandoned();
void join(invitation);
