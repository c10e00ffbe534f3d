/** A folder that a program is not given, with everything that it could want there, and ways into it from the folder that it has. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** In files, and in a name that nobody is told. */
const [secret, hidden] = ["what nobody may read", "what-nobody-may-list"];

export class WatchedFolder {
  readonly #path = realpathSync(mkdtempSync(join(tmpdir(), "banyan-outside-")));
  readonly #before: Record<string, unknown>;

  constructor() {
    process.on("exit", () => rmSync(this.#path, { recursive: true, force: true }));
    mkdirSync(join(this.#path, "folder", "empty"), { recursive: true });
    for (const name of ["file", "folder/file", hidden]) writeFileSync(join(this.#path, name), secret);
    symlinkSync("file", join(this.#path, "pointer"));
    this.#before = this.#entries();
  }

  /** Files of the program's own, and links that lead out. */
  prepare(inside: string): void {
    mkdirSync(join(inside, "sub", "deep"), { recursive: true });
    for (const name of ["own", "other", "sub/own"]) writeFileSync(join(inside, name), "own");
    execFileSync("mkfifo", [join(inside, "fifo")]);
    const up = `../${basename(this.#path)}`;
    const links = {
      out: this.#path,
      up,
      file: join(this.#path, "file"),
      dangling: join(this.#path, "new"),
      near: "own",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(inside, name));
    symlinkSync(`../${up}/folder`, join(inside, "sub", "out"));
    symlinkSync("loop", join(inside, "loop"));
  }

  /** Names that a program could try. */
  namesFor(inside: string): (string | Uint8Array)[] {
    const [out, own] = [this.#path, basename(this.#path)];
    return [
      ...[
        "own",
        "other",
        "sub",
        "sub/own",
        "sub/deep",
        "new",
        "new2",
        "sub/new",
        "near",
        ".",
        "",
        "sub/../own",
        "fifo",
      ],
      ...["own", "other", "sub", "new", "made", "made/new", "made"],
      ...["out", "up", "file", "dangling", "loop", "sub/out", "sub/out/file", "out/file", "out/new", "up/folder/empty"],
      ...["..", "../..", `../${own}`, `../${own}/file`, `sub/../../${own}/file`, `${out}/file`, out, `${out}/folder`],
      ...[
        inside,
        `${inside}/own`,
        "/",
        "/etc/passwd",
        "/proc/self/mem",
        "/proc/self/fd",
        "/dev/zero",
        "//",
        "own/",
        "own/x",
      ],
      ...["x".repeat(300), "sub/".repeat(400), "a\0b", "\u0000"],
      Uint8Array.of(0xff, 0xfe, 0x2f, 0x80),
    ];
  }

  /** Everything is as it was. */
  check(): void {
    assert.deepEqual(this.#entries(), this.#before);
  }

  /** Nothing of it is in the program's memory. */
  checkMemory(what: string, memory: Uint8Array): void {
    const bytes = Buffer.from(memory.buffer, memory.byteOffset, memory.length);
    for (const text of [secret, hidden]) assert(!bytes.includes(text), `${what}: it has read "${text}"`);
  }

  /** Every entry with its contents, and what the system knows of it; not when it was last read. */
  #entries(): Record<string, unknown> {
    const names = ["", ...readdirSync(this.#path, { recursive: true, encoding: "utf8" }).sort()];
    return Object.fromEntries(
      names.map((name) => {
        const path = join(this.#path, name);
        const stats = lstatSync(path, { bigint: true });
        const { mode, nlink, uid, gid, size, ino, mtimeNs, ctimeNs } = stats;
        const contents = stats.isFile() ? readFileSync(path, "utf8") : stats.isSymbolicLink() ? readlinkSync(path) : "";
        return [name, { mode, nlink, uid, gid, size, ino, mtimeNs, ctimeNs, contents }];
      }),
    );
  }
}
