/*
 * User-level failure mitigation (ULFM), the extension with which a program survives the loss of ranks, under the names that
 * its programs use today; the names of the coming standard are in mpi.h. The ABI has no values for it; these are ours.
 *
 * mpi.h includes this file and this file includes mpi.h, outside its guard, so that either may come first.
 */
#include "mpi.h"

#ifndef BANYAN_MPI_EXT_H
#define BANYAN_MPI_EXT_H

#if defined(__cplusplus)
extern "C" {
#endif

/* What programs ask: ours, and the names that Open MPI gives to the same extension. */
#define MPIX_HAVE_ULFM          1
#define OMPI_HAVE_MPI_EXT       1
#define OMPI_HAVE_MPI_EXT_FTMPI 1

#define MPIX_ERR_PROC_FAILED         MPI_ERR_PROC_FAILED
#define MPIX_ERR_PROC_FAILED_PENDING MPI_ERR_PROC_FAILED_PENDING
#define MPIX_ERR_REVOKED             MPI_ERR_REVOKED

/* The key of an attribute of every communicator: does its job go on when ranks are lost? 1 under `--protocol ulfm`. */
#define MPIX_FT MPI_FT

BANYAN_DECLARE(int, MPIX_Comm_revoke, (MPI_Comm comm));
BANYAN_DECLARE(int, MPIX_Comm_is_revoked, (MPI_Comm comm, int *flag));
BANYAN_DECLARE(int, MPIX_Comm_shrink, (MPI_Comm comm, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPIX_Comm_ishrink, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));
BANYAN_DECLARE(int, MPIX_Comm_agree, (MPI_Comm comm, int *flag));
BANYAN_DECLARE(int, MPIX_Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request));
BANYAN_DECLARE(int, MPIX_Comm_get_failed, (MPI_Comm comm, MPI_Group *failed));
BANYAN_DECLARE(int, MPIX_Comm_ack_failed, (MPI_Comm comm, int num_to_ack, int *num_acked));
BANYAN_DECLARE(int, MPIX_Comm_failure_ack, (MPI_Comm comm));
BANYAN_DECLARE(int, MPIX_Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *failed));

/*
 * Under `--fault-layer` (docs/fault-layer.md): this process is dead to the program from now on. Does not return then. MPI-FT.h has it under
 * another name.
 */
BANYAN_DECLARE(int, MPIX_Simulated_death, (void));

#if defined(__cplusplus)
}
#endif

#endif
