/** Nodes that came by other means than a process of this machine: their link is all that there is. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { nodeMapOf } from "../../../core/process/node-map.ts";
import type { NodeLoss } from "../../../core/service/outcome.ts";
import { placementOf } from "../../../core/service/placement.ts";
import { callDispatcher } from "../../control-link/call-dispatcher.ts";
import type { Invitation } from "../../control-link/invitation.ts";
import { fromNodeBounds, toNewNode, toNodeBounds } from "../../control-link/message-shapes.ts";
import { openDoor, TestEnd } from "../../control-link/testing/link.ts";
import type { FromNode, Setup, ToNode } from "../../messages/node-messages.ts";
import { NodeProcess } from "./node-process.ts";
import type { NodeStarter } from "./node-starter.ts";

const setup: Setup = {
  kind: "setup",
  node: 1,
  replicas: null,
  hostName: null,
  ranks: 2,
  placement: placementOf([0, 1]),
  nodeMap: nodeMapOf([0, 1]),
  protocol: "none",
  protocolOptions: {},
  protocolPart: undefined,
  seed: -1,
  beganMs: 0,
  others: [],
  program: { path: "p", bundle: { script: "", module: "", wasm: "" }, args: [], language: "typescript" },
  sameFiles: null,
  heartbeatMs: 100,
  dispatcherQuietMs: 15_000,
  heapMb: 0,
  memoryMb: 16,
  folders: [],
  environment: null,
  freezeTo: "",
  thawFrom: "",
  mustFreeze: false,
  isMoved: false,
  absent: [],
  isDebugged: false,
  terminals: { stdin: false, stdout: false, stderr: false },
  ranksPerThread: 1,
  traceFolder: "",
  port: 0,
  recovery: null,
  watches: [],
};

interface Joining {
  readonly node: NodeProcess;
  readonly invitation: Promise<Invitation>;
  readonly said: FromNode[];
  readonly ended: Promise<NodeLoss>;
}

function joining(t: Parameters<typeof openDoor>[0]): Joining {
  let invite!: (invitation: Invitation) => void;
  const invitation = new Promise<Invitation>((resolve) => {
    invite = resolve;
  });
  const starter: NodeStarter = {
    start(_number, given) {
      void given.then((it) => invite(it!));
      return null;
    },
  };
  const node = new NodeProcess(openDoor(t), starter);
  const said: FromNode[] = [];
  const ended = new Promise<NodeLoss>((resolve) => {
    node.begin(setup, [1], { heard() {}, said: (message) => said.push(message), printed() {}, ended: resolve });
  });
  return { node, invitation, said, ended };
}

async function join(invitation: Invitation): Promise<TestEnd<FromNode, ToNode>> {
  const called = await callDispatcher(invitation);
  assert(called.ok);
  const end = new TestEnd<FromNode, ToNode>({ ...called, sends: fromNodeBounds, hears: toNodeBounds });
  end.link.expect(toNewNode);
  return end;
}

test("V1: a node that nobody here has started is set up over its link, and gone when that is", async (t) => {
  const { node, invitation, said, ended } = joining(t);
  assert(node.isAlive);
  assert.equal(node.pid, undefined);
  const end = await join(await invitation);
  await end.has(1);
  assert.deepEqual(end.heard, [setup]);
  end.link.send({ kind: "ready", build: "test", address: null });
  end.link.send({ kind: "bye" });
  end.link.end();
  assert.deepEqual(await ended, { kind: "cut", why: "the other side has closed it" });
  assert.deepEqual(
    said.map(({ kind }) => kind),
    ["ready", "bye"],
  );
  assert(!node.isAlive && !node.kill() && !node.signal("SIGSTOP"));
});

test("V1: to kill such a node is to cut its link", async (t) => {
  const { node, invitation, ended } = joining(t);
  const end = await join(await invitation);
  assert(node.kill());
  assert.equal((await ended).kind, "cut");
  await end.closed;
});

test("V1: such a node that never calls can be given up, and is not let in afterwards", async (t) => {
  const { node, invitation, ended } = joining(t);
  assert(node.kill());
  assert.deepEqual(await ended, { kind: "cut", why: "it has not called" });
  const called = await callDispatcher(await invitation);
  assert(!called.ok);
  await node.gone;
});

test("X7: a node that speaks of other nodes' ranks is cut off", async (t) => {
  const { invitation, said, ended } = joining(t);
  const end = await join(await invitation);
  end.link.send({ kind: "rank-started", rank: 1, incarnation: 0 });
  end.link.send({ kind: "rank-started", rank: 0, incarnation: 0 });
  const why = 'it sent a message "rank-started" that is wrong: the message .rank is no rank of this node';
  assert.deepEqual(await ended, { kind: "cut", why });
  assert.equal(said.length, 1);
});

test("V9: a process without a place gives signs of life and says nothing else", async (t) => {
  const { invitation } = openDoor(t).invite((socket) => came(socket));
  let idles = 0;
  let came!: (socket: Socket) => void;
  const door = {
    invite: (whenCalled: (socket: Socket) => void) => {
      came = whenCalled;
      return { number: 1, invitation: Promise.resolve(null), withdraw: () => {} };
    },
  };
  const node = new NodeProcess(door, { start: () => null }, () => idles++);
  const end = await join((await invitation)!);
  const sign = { kind: "heartbeat", passed: [], over: 0, packets: 0, usedMb: 0 } as const;
  end.link.send(sign);
  end.link.send({ ...sign, passed: [{ rank: 0, calls: 1 }] });
  await node.gone;
  assert(idles > 0);
  await end.closed;
});
