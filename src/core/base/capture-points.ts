/**
 * The imports inside which a process may be captured: every call that communicates or waits. Asyncify makes each function that
 * can reach one of them unwindable, and leaves all other functions alone. So a call that is local in every implementation of
 * MPI is missing here (but MPI_Wtime, see below), and a call that may wait is listed even if Banyan's never does. A test compares
 * this list with include/mpi.h.
 */

/**
 * The result of an import whose caller is to be unwound. MPI's own results are never negative, except −1, which asks for a
 * callback.
 */
export const SUSPENDED = -2;

/** So the linker says in the section `banyan` of a module, which is JSON, that it was linked with `--no-capture`. */
export const noCaptureText = '"capture":false';

const words = (text: string): string[] => text.trim().split(/\s+/);
const withLarge = (name: string): string[] => [name, `${name}_c`];

/** Blocking, nonblocking (`I…`) and persistent (`…_init`), each also for large counts. */
const collectives = words(`
  Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw
  Reduce Allreduce Reduce_scatter_block Reduce_scatter Scan Exscan
  Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw`);

const messages = words(`
  Send Bsend Ssend Rsend Recv Isend Ibsend Issend Irsend Irecv Mrecv Imrecv
  Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace
  Buffer_detach Comm_detach_buffer Session_detach_buffer`);

const windows = words(`
  Win_create Win_allocate Win_allocate_shared Put Get Accumulate Get_accumulate Rput Rget Raccumulate Rget_accumulate`);

const files = words(`
  read_at read_at_all write_at write_at_all iread_at iread_at_all iwrite_at iwrite_at_all
  read read_all write write_all iread iread_all iwrite iwrite_all
  read_shared write_shared iread_shared iwrite_shared read_ordered write_ordered
  read_at_all_begin write_at_all_begin read_all_begin write_all_begin read_ordered_begin write_ordered_begin`);

const others = words(`
  Wait Waitany Waitall Waitsome Test Testany Testall Testsome
  Request_get_status Request_get_status_any Request_get_status_all Request_get_status_some
  Probe Iprobe Mprobe Improbe Cancel Start Startall
  Buffer_flush Buffer_iflush Comm_flush_buffer Comm_iflush_buffer Session_flush_buffer Session_iflush_buffer
  Psend_init Precv_init Pready Pready_range Pready_list Parrived
  Barrier Ibarrier Barrier_init
  Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_create Comm_create_group Comm_split Comm_split_type
  Comm_create_from_group Comm_free Intercomm_create Intercomm_create_from_groups Intercomm_merge
  Cart_create Cart_sub Graph_create Dist_graph_create_adjacent Dist_graph_create
  Wtime Init Init_thread Finalize Abort Session_init Session_finalize
  Comm_spawn Comm_spawn_multiple Open_port Close_port Comm_accept Comm_connect Comm_disconnect Comm_join
  Publish_name Unpublish_name Lookup_name
  Win_create_dynamic Win_free Fetch_and_op Compare_and_swap
  Win_fence Win_start Win_complete Win_post Win_wait Win_test Win_lock Win_lock_all Win_unlock Win_unlock_all
  Win_flush Win_flush_all Win_flush_local Win_flush_local_all
  File_open File_close File_delete File_set_size File_preallocate File_get_size File_set_view File_set_info
  File_set_atomicity File_sync File_seek_shared File_get_position_shared
  File_read_at_all_end File_write_at_all_end File_read_all_end File_write_all_end
  File_read_ordered_end File_write_ordered_end`);

/** ULFM, under the standard's names and those with an X: every call except the queries that are answered from local knowledge. */
const repairs = words("Comm_revoke Comm_shrink Comm_ishrink Comm_agree Comm_iagree");

const functions: readonly string[] = [
  ...messages.flatMap(withLarge),
  ...collectives
    .flatMap((name) => [name, `I${name[0]!.toLowerCase()}${name.slice(1)}`, `${name}_init`])
    .flatMap(withLarge),
  ...windows.flatMap(withLarge),
  ...files.map((name) => `File_${name}`).flatMap(withLarge),
  ...others,
];

/**
 * Of the C library. `sleep`, and reads of standard input that wait for input; and calls by which a program can wait without MPI, again
 * and again until a time has come or a file is there: such a rank can be stopped too, and others that share its thread go on.
 */
export const wasiCapturePoints: readonly string[] = [
  "poll_oneoff",
  "fd_read",
  "clock_time_get",
  "path_open",
  "path_filestat_get",
];

/** The imports as `module.name`. */
export const capturePoints: readonly string[] = [
  ...functions.map((name) => `mpi.MPI_${name}`),
  ...repairs.flatMap((name) => [`mpi.MPI_${name}`, `mpi.MPIX_${name}`]),
  "mpi.MPIX_Simulated_death",
  // Functions of the program that are called in the middle of an MPI call may communicate.
  "mpi.callback",
  "mpi.callback_done",
  ...wasiCapturePoints.map((name) => `wasi_snapshot_preview1.${name}`),
];
