import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { capturePoints } from "../core/base/capture-points.ts";

const headers = ["include/mpi.h", "include/mpi-ext.h"].map((path) => readFileSync(path, "utf8")).join("\n");
const declared = [...headers.matchAll(/^BANYAN_DECLARE\(\w+, (\w+),/gm)].map(([, name]) => name!);
const captured = new Set(capturePoints.map((point) => point.replace(/^mpi\./, "")));

/** Local in the standard (§2.4.3 and the chapters' own words), so their callers need not be unwound. */
const local: readonly RegExp[] = [
  /^MPI_(Type|Group|Op|Info|Errhandler|Status|Message|T|Abi|Aint)_/,
  /^MPI_(Get|Query|Is|Add|Remove|Error|Keyval|Attr)_/,
  /_(c2f|f2c|toint|fromint|c2f08|f082c|f2f08|f082f)$/,
  /_(keyval|attr|name|errhandler|info|group)$/,
  /^MPI_(Send|Bsend|Ssend|Rsend|Recv)_init(_c)?$/,
  /^MPI_(Comm|Session|Buffer)_?attach(_buffer)?(_c)?$/,
  /^MPI_(Un)?[Pp]ack(_.*)?$/,
  /^MPI_(Comm_(size|rank|compare|test_inter|remote_size|get_parent)|Initialized|Finalized|Wtime|Wtick|Pcontrol|Address)$/,
  /^MPI_(Alloc_mem|Free_mem|Reduce_local(_c)?|Request_free|Test_cancelled|Grequest_start|Grequest_complete)$/,
  /^MPI_(Topo_test|Dims_create|Graphdims_get|Cartdim_get|(Cart|Graph|Dist_graph)_(get|rank|coords|shift|map|neighbors.*))$/,
  /^MPI_Win_(shared_query(_c)?|attach|detach|sync)$/,
  /^MPI_File_(get_.*|seek)$|^MPI_Register_datarep(_c)?$/,
  /^MPI_Session_get_(num_psets|nth_pset)$/,
  /^MPIX?_Comm_(is_revoked|get_failed|ack_failed|failure_ack|failure_get_acked)$/,
];

describe("M6 where a process may be captured", () => {
  it("every function on the list is in the header, once", () => {
    const functions = capturePoints.filter((point) => /^mpi\.MPI/.test(point)).map((point) => point.slice(4));
    assert.deepEqual(
      functions.filter((name) => !declared.includes(name)),
      [],
    );
    assert.equal(new Set(capturePoints).size, capturePoints.length);
  });

  it("every other function of the header is local", () => {
    const open = declared.filter((name) => !captured.has(name) && !local.some((pattern) => pattern.test(name)));
    assert.deepEqual(open, []);
  });

  it("what the program waits in without MPI is on it", () => {
    for (const point of ["mpi.callback", "wasi_snapshot_preview1.poll_oneoff", "wasi_snapshot_preview1.fd_read"])
      assert(capturePoints.includes(point), point);
  });
});
