/**
 * The parts of a job, put together. Each part holds one subject and knows of the others by ports alone; this file is the only one
 * that sees all of them. Parts act after all of them are there: a port may name a part that is made later.
 */
import { assert } from "../../core/base/assert.ts";
import type { ProcessName } from "../../core/base/identity.ts";
import { playersOf } from "../../core/base/players.ts";
import { isForDisk } from "../../core/ft/durable-option.ts";
import { Dispatcher, type DispatcherOptions, type DispatcherPorts } from "../../core/service/dispatcher.ts";
import type { InputPiece } from "../../core/service/input-pieces.ts";
import type { FaultsFired } from "../../core/service/job-record.ts";
import type { JobOutcome } from "../../core/service/outcome.ts";
import { patiencesOf } from "../../core/service/patiences.ts";
import { placementOf, ranksOfNode } from "../../core/service/placement.ts";
import { ownProcess } from "../../core/service/volunteers.ts";
import { offerProof } from "../disk/same-files.ts";
import { verifyImages } from "../image/verify-images.ts";
import type { JobPartHost, JobPartHostPorts } from "../part-hosts/job-part-host.ts";
import { jobParts } from "../protocol-parts/job-parts.ts";
import { cNodeMemoryMb, guestsOf } from "../transport/layout.ts";
import { areLinksAlike } from "../transport/tcp/link-sizes.ts";
import { captureRefusal } from "./check-options.ts";
import { JobClones } from "./clones/job-clones.ts";
import type { FrozenJob } from "./folder/frozen-job.ts";
import { InputFile } from "./folder/input-file.ts";
import { JobFolders } from "./folder/job-folders.ts";
import { JobJournal } from "./folder/job-journal.ts";
import { OutputFile } from "./folder/output-file.ts";
import { InputCopies } from "./input-copies.ts";
import { InputSource } from "./input-source.ts";
import { JobFreezing } from "./job-freezing.ts";
import { isResumable, type JobOptions, takesWorldCheckpoints } from "./job-options.ts";
import { JobOutput } from "./job-output.ts";
import { JobServices } from "./job-services.ts";
import { JobTrace } from "./job-trace.ts";
import { JobWhereabouts } from "./job-whereabouts.ts";
import { NodeListener } from "./node-listener.ts";
import { NodeSetups } from "./node-setup.ts";
import { JobNodes } from "./nodes/job-nodes.ts";
import { JobVolunteers } from "./nodes/job-volunteers.ts";
import { LocalStarter } from "./nodes/local-starter.ts";
import { folderOfProgram } from "./programs/folders-given.ts";
import { languageOf } from "./programs/program-compile.ts";
import { CapturedModule } from "./programs/without-capture.ts";
import { JobFaults } from "./recovery/job-faults.ts";
import { JobRecovery } from "./recovery/job-recovery.ts";
import { JobRelocation } from "./recovery/job-relocation.ts";
import { JobWorldCheckpoints } from "./recovery/job-world-checkpoints.ts";
import { JobReport } from "./report/job-report.ts";
import { Spawning } from "./spawning.ts";

/** A rank that makes no MPI call for so long keeps the others of its set from nothing but their work: the checkpoint is given up. */
const checkpointPatienceMs = 10_000;
const endPatienceMs = 2_500;
/** The same for a world of replicas, which may wait for another one that waits for it. */
const worldPatienceMs = 5_000;

export interface JobParts {
  readonly report: JobReport;
  readonly folders: JobFolders;
  readonly journal: JobJournal;
  readonly trace: JobTrace;
  readonly core: Dispatcher;
  readonly services: JobServices;
  readonly nodes: JobNodes;
  /** Null: nodes cannot join. */
  readonly volunteers: JobVolunteers | null;
  readonly output: JobOutput;
  readonly input: InputSource | InputCopies;
  readonly freezing: JobFreezing;
  /** Null: moved ranks come back as lost ones do. */
  readonly relocation: JobRelocation | null;
  readonly spawning: Spawning;
  /** Null: there is no fault plan. */
  readonly faults: JobFaults | null;
  /** Null: the protocol has none for the job. */
  readonly protocolPart: JobPartHost | null;
  /** Null: the lost are not started again. */
  readonly recovery: JobRecovery | null;
  /** Null: the lost do not come back as clones of others. */
  readonly clones: JobClones | null;
  /** Null: no images are taken of a world of replicas. */
  readonly worlds: JobWorldCheckpoints | null;
  /** Entries of the fault plan that have fired; null: none. */
  readonly faultsFired: { record: FaultsFired | null };
  readonly listener: NodeListener;
  readonly whereabouts: JobWhereabouts;
  /** Ranks whose programs have ended without MPI_Finalize. */
  readonly unfinalized: ReadonlySet<number>;
}

/** The turns in the life of the job, for the job as a whole. */
interface JobTurns {
  /** Every rank has begun to run its program. */
  allBegan(): void;
  decided(outcome: JobOutcome): void;
  /** The last node is gone. */
  ended(outcome: JobOutcome): void;
  /** Something that the job was to leave behind is lost. */
  lost(message: string): void;
  /** The reader of what is printed has gone. */
  outputClosed(): void;
  /** To the node of a rank, wherever it is then. */
  sendInput(piece: InputPiece): void;
}

/** What goes on with a job whose ranks have been moved, or which goes back to a checkpoint. */
type Outliving = Pick<JobParts, "report" | "output" | "input" | "faultsFired">;

/** For ports that name parts which are made later. */
type AllParts = () => JobParts;

/** `outliving`: of the same job before it was moved. */
export function createParts(options: JobOptions, turns: JobTurns, outliving: Outliving | null = null): JobParts {
  const all: AllParts = () => parts;
  const players = options.replicas === null ? null : playersOf(options.replicas);
  const report = outliving?.report ?? new JobReport(players);
  const folders = new JobFolders(options);
  const { resumed } = options;
  const note = (message: string): void => report.note(message);
  const forDisk = isForDisk(options.protocolOptions);
  const journal = new JobJournal(folders.lasting, note, {
    bytes: outliving === null ? resumed?.journalBytes : 0,
    isForDisk: forDisk,
  });
  const plays = players?.map(({ rank }) => rank);
  const core = new Dispatcher(
    { ...dispatcherOptions(options), plays },
    dispatcherPorts(options, players, { journal, turns, all }),
    report.startMs,
    resumed === null ? undefined : { state: resumed.state.dispatcher, startMs: report.startMs },
  );
  const unusable = (message: string): void => core.unusable(message, performance.now());
  const disputed = (message: string, difference: string): void => core.disputed(message, difference, performance.now());
  const trace = new JobTrace(options.trace, options.folder);
  const setups = new NodeSetups(options, {
    placement: options.placement,
    bundle: folders.bundle,
    traceFolder: trace.folder,
    sameFiles: options.sendFiles ? null : offerProof(options.folder),
  });
  const services = new JobServices(
    options,
    { folders, secret: setups.secret, traceFolder: trace.folder },
    {
      toNodes: (message) => all().nodes.sendAll(message),
      note: (message) => report.note(message),
      unusable,
    },
  );
  const volunteers = createVolunteers(options, setups, { core, report }, all);
  const nodes = createNodes(options, setups, { services, volunteers }, all);
  const output = outliving?.output ?? createOutput(options, report, turns);
  const input = outliving?.input ?? createInput(options, plays, (piece) => turns.sendInput(piece), note);
  const freezing = new JobFreezing(
    { folder: folders.lasting, job: frozenJobOf(options) },
    {
      hasSpawned: () => report.names.worlds > 0,
      dead: () => (options.protocol.deaths === "survived" ? core.state.deaths[0]?.rank : undefined),
      toNodes: (message) => nodes.sendAll(message),
      note: (message) => report.note(message),
    },
  );
  const spawning = createSpawning(options, folders, { core, nodes, report, freezing });
  const faultsFired = outliving?.faultsFired ?? { record: resumed?.state.faults ?? null };
  const faults = createFaults(options, { core, nodes, report, services, journal, faultsFired }, all);
  const protocolPart = createProtocolPart(
    options,
    setups,
    { nodes, report, folders },
    players,
    { unusable, disputed },
    all,
  );
  const called = { core, nodes, volunteers, report, services, folders, journal, faults, input, protocolPart };
  const recovery = createRecovery(options, called);
  const clones = createClones(options, players, { core, nodes, report, folders, input });
  const worlds = createWorldCheckpoints(options, players, { core, nodes, report, folders });
  const relocation =
    clones === null && recovery === null
      ? new JobRelocation(options, {
          freezing,
          report,
          program: new CapturedModule(folders.bundle.wasm),
          refusal: captureRefusal(options),
        })
      : null;
  const unfinalized = new Set<number>();
  const whereabouts = new JobWhereabouts(options.placement, {
    core,
    names: report.names,
    unfinalized,
    send: (node, message) => nodes.send(node, message),
    // A rank may wait in one world for what another world sends it.
    isQuiet: () => recovery?.isQuiet ?? options.protocol.deaths !== "covered",
  });
  const heard = {
    core,
    nodes,
    volunteers,
    output,
    input,
    spawning,
    freezing,
    recovery,
    clones,
    worlds,
    relocation,
    protocolPart,
    faults,
    report,
    whereabouts,
    unfinalized,
  };
  const listener = new NodeListener(options, { ...heard, allBegan: () => turns.allBegan() });
  const parts: JobParts = { ...heard, folders, journal, trace, services, listener, faultsFired };
  return parts;
}

function createOutput(options: JobOptions, report: JobReport, turns: JobTurns): JobOutput {
  const forDisk = isForDisk(options.protocolOptions);
  const note = (message: string): void => report.note(message);
  const keeper = isResumable(options)
    ? new OutputFile({ folder: options.jobFolder, book: options.resumed?.output, isForDisk: forDisk, note })
    : null;
  return new JobOutput(
    { ...options, keeper },
    {
      shortNameOf: (rank) => report.names.shortNameOf(rank),
      line: (event, bytes, done) => report.events.push(event, bytes, done),
      closed: () => turns.outputClosed(),
      lost: (message) => turns.lost(message),
    },
  );
}

function dispatcherOptions(options: JobOptions): DispatcherOptions {
  const { ranks, placement, nodes, heartbeatMs, timeoutMs, protocol, setOf, keepSuspects, patienceMs } = options;
  return {
    ranks,
    placement,
    nodes,
    heartbeatMs,
    ...patiencesOf(patienceMs),
    timeoutMs,
    endPatienceMs,
    deaths: protocol.deaths,
    setOf: setOf ?? undefined,
    keepSuspects,
    calendarMs: Date.now(),
  };
}

/** Standard input is rank 0's; where several processes play it each has all of it. */
function createInput(
  options: JobOptions,
  plays: readonly number[] | undefined,
  send: (piece: InputPiece) => void,
  note: (message: string) => void,
): JobParts["input"] {
  const { stdin: stream, setOf, resumed, jobFolder } = options;
  if (plays === undefined) {
    const written = { bytes: resumed?.inputBytes, isForDisk: isForDisk(options.protocolOptions) };
    const file = isResumable(options) ? new InputFile(jobFolder, note, written) : null;
    const earlier = resumed === null ? null : { ...resumed.input, isRepeated: resumed.repeatsInput };
    return new InputSource({ stream, keeps: setOf !== null, send, file, earlier });
  }
  const readers = [...plays.keys()].filter((process) => plays[process] === 0);
  return new InputCopies({ stream, readers, keeps: hasClones(options) || takesWorldCheckpoints(options), send });
}

function dispatcherPorts(
  { protocol }: JobOptions,
  players: readonly ProcessName[] | null,
  { journal, turns, all }: { readonly journal: JobJournal; readonly turns: JobTurns; readonly all: AllParts },
): DispatcherPorts {
  return {
    record: (record) => journal.append(record),
    tell: (death) => {
      const { nodes, listener, clones, worlds, protocolPart } = all();
      nodes.sendTrusted({ kind: "death", ...death });
      listener.died(death.rank);
      clones?.died(death.rank);
      worlds?.ended(death.rank);
      const name = players?.[death.rank];
      if (name !== undefined) protocolPart?.died?.(name);
    },
    left: (rank) => all().nodes.sendTrusted({ kind: "left", rank }),
    restart: (node, ranks) => {
      const { nodes, recovery } = all();
      nodes.abandon(node);
      recovery?.nodeFallen(node, ranks);
    },
    restartRanks: (_, ranks) => all().recovery?.fallen(ranks),
    endRanks: (node, ranks) => all().nodes.send(node, { kind: "end-ranks", ranks }),
    disown: (node) => all().nodes.disown(node),
    decided: (outcome) => turns.decided(outcome),
    survived: (reason, afterMs) => {
      const { recovery, report, volunteers } = all();
      // The whole job goes on, or ranks are moved, which is said once.
      if (reason.kind === "node-failed" && (reason.loss.kind === "switched-off" || reason.loss.kind === "moved"))
        return;
      if (recovery !== null) report.replaced(reason, afterMs, volunteers !== null);
      else if (protocol.deaths === "covered") report.covered(reason, afterMs);
      else report.failed(reason, afterMs);
    },
    work: (node) => all().nodes.workOf(node),
    isVacant: (node) => all().volunteers?.isVacant(node) ?? false,
    end: (node) => all().nodes.send(node, { kind: "end" }),
    kill: (node) => all().nodes.kill(node),
    ended: (outcome) => turns.ended(outcome),
  };
}

function createNodes(
  options: JobOptions,
  setups: NodeSetups,
  { services, volunteers }: Pick<JobParts, "services" | "volunteers">,
  all: AllParts,
): JobNodes {
  const { folder, nodes, host, nodeCommand, placement, program, debugPort, join, starts } = options;
  const isC = languageOf(program) === "c";
  const starter = new LocalStarter({ folder, command: nodeCommand, isC, debugPort, starts });
  return new JobNodes(
    {
      job: setups.secret,
      host,
      starter,
      nodes,
      placement,
      links: services.links,
      startsOwn: join?.only !== true,
      joining: volunteers,
    },
    {
      setupOf: (node, restarts) => {
        const { recovery, clones, protocolPart, faults } = all();
        return setups.of(node, {
          ...(recovery?.setup(node, restarts) ??
            clones?.setup(node, restarts) ?? { recovery: null, protocolPart: protocolPart?.forNode(node, []) }),
          watches: faults?.watchesOf(ranksOfNode(placement, node)) ?? [],
        });
      },
      started: (node) => {
        const { protocolPart, faults } = all();
        protocolPart?.nodeStarted(node);
        faults?.nodeStarted(node);
      },
      heard: (node) => all().core.heard(node),
      said: (node, message) => all().listener.said(node, message),
      printed: (node, stream, bytes, done) => {
        const chunk = { stream, number: 0, offset: 0, bytes, flush: false };
        all().output.accept({ kind: "node", node }, chunk, done);
      },
      ended: (node, loss) => {
        const { core, spawning, whereabouts, clones } = all();
        core.nodeEnded(node, loss, performance.now());
        clones?.nodeEnded(node);
        spawning.nodeEnded(node);
        whereabouts.nodeEnded(node);
      },
      livesOf: (ranks) => all().recovery?.livesOf(ranks) ?? [],
      unable: (why) => all().core.unusable(`Cannot start nodes: ${why}`, performance.now()),
      wantsFiles: (guest) => void services.files.serve(guest),
    },
  );
}

function createVolunteers(
  { join, host, nodes, resumed, placement }: JobOptions,
  { secret }: NodeSetups,
  { core, report }: Pick<JobParts, "core" | "report">,
  all: AllParts,
): JobVolunteers | null {
  if (join === null) return null;
  const recovery = (): JobRecovery => {
    const part = all().recovery;
    assert(part !== null, "nodes join jobs whose lost ranks begin again");
    return part;
  };
  return new JobVolunteers(
    { ...join, host, nodes, secret, isResumed: resumed !== null },
    {
      core,
      nodes: () => all().nodes,
      note: (message) => report.note(message),
      gathering: (joined, wanted) => report.gathering(joined, wanted),
      ranksText: (node) => report.names.listOf(ranksOfNode(placement, node)),
      placeTaken: (node, volunteer) => recovery().placeTaken(node, volunteer),
      saveNode: (node) => recovery().saveNode(node),
    },
  );
}

/** The record of the job in the folder of a frozen one. */
function frozenJobOf(options: JobOptions): FrozenJob {
  const { program, displayName, args, ranks, nodes, nodeMap, memoryMb, folders, environment } = options;
  const { protocol, protocolOptions } = options;
  return {
    program: displayName ?? program,
    args,
    ranks,
    nodes,
    memoryMb,
    folders,
    environment,
    // Without the numbers of processes that may be spawned: none has been.
    nodeMap: nodeMap.slice(0, ranks),
    protocol: protocol.name,
    protocolOptions,
  };
}

function createSpawning(
  { folder, program, displayName, placement, folders: given }: JobOptions,
  folders: JobFolders,
  { core, nodes, report, freezing }: Pick<JobParts, "core" | "nodes" | "report" | "freezing">,
): Spawning {
  const beside = folderOfProgram(displayName ?? program, displayName !== undefined);
  return new Spawning(
    { folder, program: displayName ?? program, bundle: folders.bundle, placement, folders: given, beside },
    {
      dispatcher: core,
      isFreezing: () => freezing.isUnderWay,
      send: (node, message) => nodes.send(node, message),
      joined: (children) => report.names.addWorld(children),
      compiled: (text) => report.compiled(text),
    },
  );
}

function createFaults(
  options: JobOptions,
  {
    core,
    nodes,
    report,
    services,
    journal,
    faultsFired,
  }: Pick<JobParts, "core" | "nodes" | "report" | "services" | "journal" | "faultsFired">,
  all: AllParts,
): JobFaults | null {
  const { faults: plan, ranks, nodes: nodeCount, placement, setOf, replicas, seed } = options;
  if (plan === null) return null;
  // Where ranks can be moved alone nobody is spawned, and the plan looks at the table that changes.
  const own = placement.length === ranks ? placement : placementOf(placement.slice(0, ranks));
  const places = { nodes: nodeCount, placement: own, setOf: setOf ?? [] };
  return new JobFaults(
    {
      plan,
      seed: seed >>> 0,
      ...places,
      replicas: replicas ?? undefined,
      living: core,
      earlier: faultsFired.record,
    },
    {
      fired: (record) => {
        faultsFired.record = record;
        journal.append(record);
      },
      node: (node) => nodes.processOf(node),
      falls: (node) => core.falls.excused(node),
      delayLink: (link, byMs) => services.delay(link, byMs),
      killService: (service) => {
        if (service === "checkpoint-server") return services.checkpointServers.kill();
        if (service === "dispatcher") return isResumable(options) && process.kill(process.pid, "SIGKILL");
        return all().protocolPart?.kill(service) ?? false;
      },
      nameOf: (rank) => report.names.nameOf(rank),
      note: (message) => report.note(message),
    },
  );
}

/** The parts that recovery calls. */
type CalledByRecovery = Pick<
  JobParts,
  "core" | "nodes" | "volunteers" | "report" | "services" | "folders" | "journal" | "faults" | "input" | "protocolPart"
>;

function createRecovery(options: JobOptions, parts: CalledByRecovery): JobRecovery | null {
  const { protocol, setOf, checkpoints, placement } = options;
  if (setOf === null) return null;
  const { core, nodes, volunteers, report, services, folders, journal, faults, input, protocolPart } = parts;
  assert(protocolPart !== null, `protocol ${protocol.name} starts the lost again, and has no part for the job`);
  return new JobRecovery(
    {
      setOf,
      placement,
      checkpointInterval: checkpoints.interval,
      checkpointPatienceMs,
      folder: folders.checkpoints,
      servers: checkpoints.servers,
      canCapture: languageOf(options.program) === "c",
      beganMs: options.beganMs,
      predecessor: options.resumed?.state.recovery,
    },
    {
      core,
      nodes,
      report,
      journal,
      faults,
      servers: services.checkpointServers,
      protocolPart,
      verify: verifyImages,
      successorOf: (node) => (volunteers === null ? ownProcess : volunteers.successorOf(node)),
      oldest: (set, number) => {
        if (set === setOf[0]) input.oldestIs(number);
      },
    },
  );
}

const hasClones = ({ protocol, protocolOptions }: JobOptions): boolean => protocol.clones?.(protocolOptions) === true;

function createClones(
  options: JobOptions,
  players: readonly ProcessName[] | null,
  { core, nodes, report, folders, input }: Pick<JobParts, "core" | "nodes" | "report" | "folders" | "input">,
): JobClones | null {
  const { placement, replicas: plan, program, protocol, protocolOptions, memoryMb, join } = options;
  if (plan === null || players === null || !(input instanceof InputCopies) || !hasClones(options)) return null;
  const isByProgram = languageOf(program) !== "c";
  const guests = guestsOf({ replicas: plan, recovery: options, placement });
  if (isByProgram)
    report.note("a lost replica of a program in TypeScript comes back when another one calls mpi.checkpoint");
  return new JobClones(
    {
      plan,
      players,
      placement,
      folder: folders.checkpoints,
      isByProgram,
      spares: protocol.spares?.(protocolOptions) ?? 0,
      memoryMb,
      guests,
      isJoined: join !== null,
      areLinksAlike: (after) =>
        areLinksAlike(
          [placement, after],
          (processes) => (isByProgram ? memoryMb : cNodeMemoryMb(processes + guests)) * 2 ** 20,
        ),
    },
    { core, nodes, report, inputReturned: (process, offset) => input.returned(process, offset) },
  );
}

function createWorldCheckpoints(
  options: JobOptions,
  players: readonly ProcessName[] | null,
  { core, nodes, report, folders }: Pick<JobParts, "core" | "nodes" | "report" | "folders">,
): JobWorldCheckpoints | null {
  if (players === null || !takesWorldCheckpoints(options)) return null;
  const { placement, checkpoints, wentBack } = options;
  const { interval, isOfAll = false } = checkpoints;
  return new JobWorldCheckpoints(
    { players, placement, interval, patienceMs: worldPatienceMs, isOfAll, folder: folders.lasting },
    { core, nodes, report },
    wentBack,
  );
}

function createProtocolPart(
  options: JobOptions,
  { secret }: NodeSetups,
  { nodes, report, folders }: Pick<JobParts, "nodes" | "report" | "folders">,
  players: readonly ProcessName[] | null,
  ends: Pick<JobPartHostPorts, "unusable" | "disputed">,
  all: AllParts,
): JobPartHost | null {
  const { protocol, protocolOptions, program, host, ranks, setOf, memoryMb, patienceMs } = options;
  const create = jobParts[protocol.name];
  if (create === undefined) return null;
  const recovery = (): JobRecovery => {
    const part = all().recovery;
    assert(part !== null, `protocol ${protocol.name} starts nobody again`);
    return part;
  };
  const setup = {
    options: protocolOptions,
    setOf: setOf ?? new Array<number>(ranks).fill(0),
    nodes: options.nodes,
    replicas: options.replicas,
    memoryMb,
    host,
    language: languageOf(program),
    job: secret,
    folder: folders.lasting,
    isResumed: options.resumed !== null,
    patience: patiencesOf(patienceMs),
  };
  return create(setup, {
    prepared: (set, incarnation, outcome) => recovery().prepared(set, incarnation, outcome),
    mayCommit: (set) => recovery().mayCommit(set),
    wantCheckpoints: (rank, sets) => recovery().wantCheckpoints(rank, sets),
    toNode: (node, words) => nodes.send(node, { kind: "protocol", words }),
    toNodes: (words) => nodes.sendAll({ kind: "protocol", words }),
    ...ends,
    note: (message) => report.note(message),
    endProcess: ({ rank, replica }) => {
      const process = players?.findIndex((name) => name.rank === rank && name.replica === replica) ?? -1;
      if (process >= 0) nodes.send(options.placement[process]!, { kind: "kill-ranks", ranks: [process] });
    },
  });
}
