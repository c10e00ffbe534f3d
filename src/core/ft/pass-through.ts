/**
 * A protocol that lets everything pass: the template of others, which extend it and override what they decide. A job under
 * `none` has no protocol at all, and the engine makes no call.
 */
import type { RecordId, WorldRank } from "../base/brand.ts";
import type { ProcessName } from "../base/identity.ts";
import { lives } from "../base/saved-classes.ts";
import { Arrival, Pin } from "../request/decisions.ts";
import type { Choices } from "./choices.ts";
import type { Beginning, Cloning, KeptPayload, NewProtocol, Protocol, RestRounds, Write } from "./protocol.ts";
import type { SharedOperations } from "./shared-operations.ts";

export class PassThrough implements Protocol {
  readonly deathEndsRequests: boolean = true;
  readonly peersSpeak: boolean = true;
  readonly mayJudgeCollectives: boolean = true;
  readonly finishedServe: boolean = false;
  readonly hasFarewell: boolean = true;
  readonly callsPassed: number = 0;
  readonly sharesClocks: boolean = false;
  readonly sharesRevocations: boolean = false;

  get choices(): Choices | null {
    return null;
  }

  get operations(): SharedOperations | null {
    return null;
  }

  get cloning(): Cloning | null {
    return null;
  }

  get rests(): RestRounds | null {
    return null;
  }

  get isBusy(): boolean {
    return false;
  }

  get awaitsOthers(): boolean {
    return false;
  }

  begin(_beginning: Beginning): void {}
  settles(_isSettling: boolean): void {}
  captured(_checkpoint: number): number {
    return 0;
  }
  trimmedTo(_checkpoint: number): void {}
  get kept(): readonly KeptPayload[] {
    return [];
  }
  report(): unknown {
    return undefined;
  }
  mayPass(_peer: number): boolean {
    return true;
  }
  received(_isAnySource: boolean, _source: WorldRank, _sequence: number): void {}
  sendPosted(_send: RecordId): boolean {
    return false;
  }
  keepsNow(_dest: number): boolean {
    return false;
  }
  keepNow(): void {}
  meeting(): void {}
  sendMayLeave(_send: RecordId): boolean {
    return true;
  }
  sendMayComplete(_send: RecordId): boolean {
    return true;
  }
  lend(_send: RecordId, _isForLong: boolean): boolean {
    return true;
  }
  receivePosted(_receive: RecordId): Pin {
    return Pin.FREE;
  }
  arrived(_words: Int32Array, _packet: number): Arrival {
    return Arrival.TAKE;
  }
  putAside(_envelope: RecordId): void {}
  mayCount(_record: RecordId): boolean {
    return true;
  }
  held(_source: WorldRank, _sequence: number): void {}
  matched(_receive: RecordId, _source: WorldRank, _sequence: number): void {}
  seen(_source: WorldRank, _sequence: number, _isOver: boolean): void {}
  collectiveBegins(_collective: RecordId): void {}
  actsFor(_collective: RecordId): void {}
  actsForProgram(): void {}
  collectiveSeen(_collective: RecordId): void {}
  mayCancel(_request: RecordId): boolean {
    return true;
  }
  cancelling(_receive: RecordId, _isMatched: boolean): boolean {
    return true;
  }
  writeMayLeave(_write: Write): boolean {
    return true;
  }
  revoking(_rank: number, _context: number, _bits: number): void {}
  control(_words: Int32Array, _packet: number): void {}
  progress(): boolean {
    return false;
  }
  peerFailed(_name: ProcessName, _incarnation: number): void {}
  peerReturned(_name: ProcessName, _incarnation: number): void {}
}

export const passThrough: NewProtocol = () => new PassThrough();

lives({ PassThrough });
