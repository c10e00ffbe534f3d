/**
 * Node's inspector from the debugger's side: one connection to a process, and through it one session for each of its worker threads. As
 * much of WebSocket (RFC 6455) as that takes, because Node 20 has no client of its own.
 */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { get } from "node:http";
import type { Socket } from "node:net";

type Values = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Values;
  readonly result?: Values;
}

/** Text frames of one connection. */
class Frames {
  readonly #socket: Socket;
  #bytes: Buffer;

  constructor(socket: Socket, head: Buffer, heard: (text: string) => void) {
    this.#socket = socket;
    this.#bytes = head;
    socket.on("data", (bytes) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      for (let text = this.#next(); text !== undefined; text = this.#next()) heard(text);
    });
    // Of a process that has ended.
    socket.on("error", () => {});
  }

  send(text: string): void {
    const payload = Buffer.from(text);
    assert(payload.length < 1 << 16, "frames of more than 64 KiB are not sent here");
    const length = payload.length < 126 ? [0x80 | payload.length] : [0xfe, payload.length >> 8, payload.length & 255];
    // The mask of zeros changes nothing.
    this.#socket.write(Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), payload]));
  }

  end(): void {
    this.#socket.destroy();
  }

  #next(): string | undefined {
    if (this.#bytes.length < 10 && this.#bytes.length < 2 + (this.#bytes[1] ?? 0)) return undefined;
    const short = this.#bytes[1]! & 127;
    const from = short < 126 ? 2 : short === 126 ? 4 : 10;
    const length =
      short < 126 ? short : short === 126 ? this.#bytes.readUInt16BE(2) : Number(this.#bytes.readBigUInt64BE(2));
    if (this.#bytes.length < from + length) return undefined;
    const text = this.#bytes.toString("utf8", from, from + length);
    this.#bytes = this.#bytes.subarray(from + length);
    return text;
  }
}

/** Calls and their answers, and events by their names. */
class Session extends EventEmitter {
  readonly #send: (text: string) => void;
  readonly #calls = new Map<number, (result: Values) => void>();
  #id = 0;

  constructor(send: (text: string) => void) {
    super();
    this.#send = send;
  }

  call(method: string, params: Values = {}): Promise<Values> {
    const id = ++this.#id;
    this.#send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#calls.set(id, resolve));
  }

  async next(event: string): Promise<Values> {
    const [params] = (await once(this, event)) as [Values];
    return params;
  }

  heard(text: string): void {
    const { id, method, params, result } = JSON.parse(text) as Message;
    if (id !== undefined) this.#calls.get(id)?.(result ?? {});
    else if (method !== undefined) this.emit(method, params);
  }
}

export interface DebuggedThread {
  readonly session: Session;
  end(): void;
}

/** Has the process that waits at the port go on, as a debugger does that knows nothing of threads. The function takes it away again. */
export async function attachToProcess(port: number): Promise<() => void> {
  const { frames, session } = await connect(port);
  await session.call("Debugger.enable");
  await session.call("Runtime.runIfWaitingForDebugger");
  return () => frames.end();
}

/** Has the process that waits at the port go on, and gives its first worker thread, which waits before its first line. */
export async function attachToThread(port: number): Promise<DebuggedThread> {
  const { frames, session } = await connect(port);
  const attached = session.next("NodeWorker.attachedToWorker");
  await session.call("NodeWorker.enable", { waitForDebuggerOnStart: true });
  await session.call("Runtime.runIfWaitingForDebugger");
  const { sessionId } = await attached;
  const thread = new Session((message) => {
    void session.call("NodeWorker.sendMessageToWorker", { sessionId, message });
  });
  session.on("NodeWorker.receivedMessageFromWorker", ({ message }: { message: string }) => thread.heard(message));
  return { session: thread, end: () => frames.end() };
}

async function connect(port: number): Promise<{ frames: Frames; session: Session }> {
  const [response] = await once(get({ host: "127.0.0.1", port, path: "/json/list" }), "response");
  let text = "";
  for await (const part of response) text += part;
  const [target] = JSON.parse(text) as { webSocketDebuggerUrl: string }[];
  const { pathname } = new URL(target!.webSocketDebuggerUrl);
  const headers = {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const [, socket, head] = await once(get({ host: "127.0.0.1", port, path: pathname, headers }), "upgrade");
  const session: Session = new Session((message) => frames.send(message));
  const frames = new Frames(socket, head, (message) => session.heard(message));
  return { frames, session };
}
