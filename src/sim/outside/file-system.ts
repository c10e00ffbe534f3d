/**
 * The files of a simulated job: they outlive its processes, and what is done to them is done at once. Folders are there as soon as
 * somebody names them; there are no symbolic links.
 */
import { Errno, WasiError } from "../../wasi/errno.ts";
import type { FileStat, Files, OpenHow } from "../../wasi/ports.ts";

interface Inode {
  readonly number: number;
  bytes: Uint8Array;
  modified: bigint;
}

const refuse = (errno: Errno): never => {
  throw new WasiError(errno);
};
const notHere = (): never => refuse(Errno.NOTSUP);

export class FileSystem implements Files {
  readonly isReplayed = false;
  readonly #names = new Map<string, Inode>();
  readonly #opened = new Map<number, Inode>();
  readonly #nowNs: () => bigint;
  #inodes = 0;
  #handles = 0;

  constructor(nowNs: () => bigint) {
    this.#nowNs = nowNs;
  }

  /** A file that was there before the job. */
  put(path: string, bytes: Uint8Array): void {
    this.#names.set(path, { number: ++this.#inodes, bytes, modified: 0n });
  }

  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  contentsOf(path: string): Uint8Array | undefined {
    return this.#names.get(path)?.bytes;
  }

  /** Everything there is, as text. */
  tree(): string[] {
    return [...this.#names].map(([path, { bytes }]) => `${path}: ${new TextDecoder().decode(bytes)}`).sort();
  }

  open(path: string, { create, exclusive, truncate }: OpenHow): number {
    let inode = this.#names.get(path);
    if (inode !== undefined && create && exclusive) refuse(Errno.EXIST);
    if (inode === undefined) {
      if (!create) refuse(Errno.NOENT);
      inode = { number: ++this.#inodes, bytes: new Uint8Array(0), modified: this.#nowNs() };
      this.#names.set(path, inode);
    }
    if (truncate) this.#change(inode, new Uint8Array(0));
    this.#opened.set(++this.#handles, inode);
    return this.#handles;
  }

  reopen(path: string, how: OpenHow): number {
    return this.open(path, { ...how, create: false, exclusive: false, truncate: false });
  }

  close(file: number): void {
    this.#opened.delete(file);
  }

  #of(file: number): Inode {
    return this.#opened.get(file) ?? refuse(Errno.BADF);
  }

  #named(path: string): Inode {
    return this.#names.get(path) ?? refuse(Errno.NOENT);
  }

  #change(inode: Inode, bytes: Uint8Array): void {
    inode.bytes = bytes;
    inode.modified = this.#nowNs();
  }

  read(file: number, bytes: Uint8Array, position: number): number {
    const part = this.#of(file).bytes.subarray(position, position + bytes.length);
    bytes.set(part);
    return part.length;
  }

  write(file: number, bytes: Uint8Array, position: number): number {
    const inode = this.#of(file);
    const changed = new Uint8Array(Math.max(inode.bytes.length, position + bytes.length));
    changed.set(inode.bytes);
    changed.set(bytes, position);
    this.#change(inode, changed);
    return bytes.length;
  }

  sync(): void {}

  truncate(file: number, size: number): void {
    const inode = this.#of(file);
    const changed = new Uint8Array(size);
    changed.set(inode.bytes.subarray(0, size));
    this.#change(inode, changed);
  }

  statOpen(file: number): FileStat {
    return statOf(this.#of(file));
  }

  stat(path: string): FileStat {
    return statOf(this.#named(path));
  }

  /** It has always just changed. */
  list(folder: string): { name: string; kind: "file" }[] {
    const paths = [...this.#names.keys()].filter((path) => path.startsWith(`${folder}/`));
    return paths.sort().map((path) => ({ name: path.slice(folder.length + 1), kind: "file" }));
  }

  remove(path: string): void {
    this.#named(path);
    this.#names.delete(path);
  }

  rename(from: string, to: string): void {
    const inode = this.#named(from);
    this.#names.delete(from);
    this.#names.set(to, inode);
  }

  resolve(path: string): string {
    return path;
  }

  link(from: string, to: string): void {
    const inode = this.#named(from);
    if (this.#names.has(to)) refuse(Errno.EXIST);
    this.#names.set(to, inode);
  }

  makeDirectory = notHere;
  removeDirectory = notHere;
  symlink = notHere;
  readLink = notHere;
  setTimes = notHere;
}

const statOf = ({ number, bytes, modified }: Inode): FileStat => ({
  kind: "file",
  device: 1n,
  inode: BigInt(number),
  links: 1n,
  size: BigInt(bytes.length),
  accessed: modified,
  modified,
  changed: modified,
});
